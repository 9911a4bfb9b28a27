#!/bin/sh
# Plays a test program of which one test fails and another one ends the process (programs.rs).
echo '{ "type": "test", "event": "started", "name": "fails" }'
echo '{ "type": "test", "name": "fails", "event": "failed", "exec_time": 0.1, "stdout": "Error: wrong" }'
echo '{ "type": "test", "event": "started", "name": "aborts" }'
exit 134
