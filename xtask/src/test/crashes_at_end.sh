#!/bin/sh
# Plays a test program that crashes after its tests have passed (programs.rs).
echo '{ "type": "test", "event": "started", "name": "passes" }'
echo '{ "type": "test", "name": "passes", "event": "ok", "exec_time": 0.1 }'
echo '{ "type": "suite", "event": "ok", "passed": 1 }'
exit 134
