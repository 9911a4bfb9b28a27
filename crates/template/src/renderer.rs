//! Renders a template: executes its statements in order.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use minijinja::machinery::ast::{CallBlock, Expr, ForLoop, IfCond, Macro, Stmt};

use super::arguments::Arguments;
use super::budget::Budget;
use super::error::{Result, refused};
use super::filters::apply;
use super::maps::set;
use super::scopes::Scopes;
use super::value::{Loop, Value, check_name, check_storable};
use super::write::written;

/// The state of one rendering of a template that lives for `'t`.
pub struct Renderer<'t> {
    pub budget: Budget,
    globals: Vec<(&'t str, Value)>,
    scopes: Scopes<'t>,
    macros: Vec<&'t Macro<'t>>,
    recursive_loops: Vec<&'t ForLoop<'t>>,
    /// The texts being written. The first is the whole text, the others are of blocks and macros whose text becomes a value.
    outputs: Vec<String>,
    /// Whether macros accept more arguments than they name, because the template reads `varargs` or `kwargs`.
    takes_more: bool,
}

/// How a statement ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl<'t> Renderer<'t> {
    pub fn new(budget: Budget, globals: Vec<(&'t str, Value)>, takes_more: bool) -> Self {
        Self {
            budget,
            globals,
            scopes: Scopes::new(),
            macros: Vec::new(),
            recursive_loops: Vec::new(),
            outputs: vec![String::new()],
            takes_more,
        }
    }

    /// Renders the template to text.
    pub fn render(mut self, template: &'t Stmt<'t>) -> Result<String> {
        self.run(template)?;
        Ok(self.outputs.pop().unwrap_or_default())
    }

    pub fn variable(&self, name: &str) -> Value {
        let global = || self.globals.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        self.scopes.get(name).or_else(global).unwrap_or(Value::Undefined)
    }

    fn emit(&mut self, text: &str) -> Result<()> {
        self.budget.spend(text.len())?;
        self.outputs.last_mut().expect("there is one for the whole text").push_str(text);
        Ok(())
    }

    /// The text that `run` writes.
    fn captured(&mut self, run: impl FnOnce(&mut Self) -> Result<Flow>) -> Result<String> {
        self.outputs.push(String::new());
        run(self)?;
        Ok(self.outputs.pop().unwrap_or_default())
    }

    fn run_all(&mut self, statements: &'t [Stmt<'t>]) -> Result<Flow> {
        for statement in statements {
            let flow = self.run(statement)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn run(&mut self, statement: &'t Stmt<'t>) -> Result<Flow> {
        self.budget.enter()?;
        let flow = self.run_statement(statement)?;
        self.budget.leave();
        Ok(flow)
    }

    fn run_statement(&mut self, statement: &'t Stmt<'t>) -> Result<Flow> {
        match statement {
            Stmt::Template(template) => return self.run_all(&template.children),
            Stmt::EmitRaw(raw) => self.emit(raw.raw)?,
            Stmt::EmitExpr(emitted) => {
                let value = self.value(&emitted.expr)?;
                let text = written(&value, &self.budget)?;
                self.emit(&text)?;
            }
            Stmt::IfCond(condition) => return self.run_condition(condition),
            Stmt::ForLoop(repeated) => return self.run_loop(repeated),
            Stmt::WithBlock(block) => {
                let values = block.assignments.iter().map(|(_, expr)| self.value(expr)).collect::<Result<Vec<_>>>()?;
                self.scopes.push();
                for ((target, _), value) in block.assignments.iter().zip(values) {
                    self.assign(target, value)?;
                }
                let flow = self.run_all(&block.body)?;
                self.scopes.pop();
                return Ok(flow);
            }
            Stmt::Set(set) => {
                let value = self.safe_value(&set.expr)?;
                self.assign(&set.target, value)?;
            }
            Stmt::SetBlock(set) => {
                let text = self.captured(|renderer| renderer.run_all(&set.body))?;
                let value = self.filtered(set.filter.as_ref(), Value::text(text))?;
                self.assign(&set.target, value)?;
            }
            Stmt::FilterBlock(block) => {
                let text = self.captured(|renderer| renderer.run_all(&block.body))?;
                let value = self.filtered(Some(&block.filter), Value::text(text))?;
                let text = written(&value, &self.budget)?;
                self.emit(&text)?;
            }
            Stmt::Macro(declared) => {
                let value = self.defined(declared);
                self.scopes.set(declared.name, value);
            }
            Stmt::CallBlock(call) => self.run_call_block(call)?,
            Stmt::Continue(_) => return Ok(Flow::Continue),
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::AutoEscape(block) => match self.value(&block.enabled)?.is_true() {
                true => return refused("it escapes texts, which is not supported"),
                false => return self.run_all(&block.body),
            },
            // A Jinja2 extension that transformers does not load.
            Stmt::Do(_) => return refused("unknown statement do"),
        }
        Ok(Flow::Next)
    }

    /// Processes `elif` branches in a loop, without nesting.
    fn run_condition(&mut self, condition: &'t IfCond<'t>) -> Result<Flow> {
        let mut condition = condition;
        loop {
            if self.value(&condition.expr)?.is_true() {
                return self.run_all(&condition.true_body);
            }
            match &condition.false_body[..] {
                [Stmt::IfCond(next)] => condition = next,
                other => return self.run_all(other),
            }
        }
    }

    fn run_loop(&mut self, repeated: &'t ForLoop<'t>) -> Result<Flow> {
        let items = self.value(&repeated.iter)?.items(&self.budget)?;
        let scope = self.scopes.current();
        let number = repeated.recursive.then(|| number_of(&mut self.recursive_loops, repeated));
        self.run_loop_over(repeated, items, 0, scope, number)
    }

    /// The text of `loop(items)` in a recursive loop, which runs the loop statement over other items.
    pub fn call_loop(&mut self, state: &Loop, mut arguments: Arguments) -> Result<String> {
        let Some((number, scope)) = state.statement else { return refused("it calls a loop that is not recursive") };
        let items = arguments.required(0, "iterable")?.items(&self.budget)?;
        arguments.end()?;
        let repeated = self.recursive_loops[number];
        self.captured(|renderer| renderer.run_loop_over(repeated, items, state.depth + 1, scope, Some(number)))
    }

    /// Runs a loop. `scope` is the scope of its statement, and `number` the index of a recursive statement.
    fn run_loop_over(
        &mut self,
        repeated: &'t ForLoop<'t>,
        items: Vec<Value>,
        depth: usize,
        scope: usize,
        number: Option<usize>,
    ) -> Result<Flow> {
        self.scopes.push_in(scope);
        let items = self.filtered_items(repeated, items)?;
        if items.is_empty() {
            let flow = self.run_all(&repeated.else_body)?;
            self.scopes.pop();
            return Ok(flow);
        }
        let statement = number.map(|number| (number, scope));
        let state = Rc::new(Loop { items, index: Cell::new(0), last: RefCell::new(None), depth, statement });
        for (i, item) in state.items.iter().enumerate() {
            self.budget.enter()?;
            self.budget.leave();
            state.index.set(i);
            self.scopes.begin_iteration();
            self.scopes.set("loop", Value::Loop(state.clone()));
            self.assign(&repeated.target, item.clone())?;
            if self.run_all(&repeated.body)? == Flow::Break {
                break;
            }
        }
        self.scopes.pop();
        Ok(Flow::Next)
    }

    /// The items for which the loop's condition is true.
    fn filtered_items(&mut self, repeated: &'t ForLoop<'t>, items: Vec<Value>) -> Result<Vec<Value>> {
        let Some(condition) = &repeated.filter_expr else { return Ok(items) };
        let mut kept = Vec::new();
        for item in items {
            self.scopes.begin_iteration();
            self.assign(&repeated.target, item.clone())?;
            if self.value(condition)?.is_true() {
                kept.push(item);
            }
        }
        // `else` sees the outer variables.
        self.scopes.begin_iteration();
        Ok(kept)
    }

    /// `target = value`: a variable, several of them, or a name in a namespace.
    fn assign(&mut self, target: &'t Expr<'t>, value: Value) -> Result<()> {
        match target {
            Expr::Var(variable) => {
                self.scopes.set(variable.id, value);
                Ok(())
            }
            Expr::Tuple(targets) => self.assign_all(&targets.items, &value),
            Expr::List(targets) => self.assign_all(&targets.items, &value),
            Expr::GetAttr(access) => match self.value(&access.expr)? {
                Value::Namespace(entries) => {
                    check_storable(&value)?;
                    let name = Value::text(access.name);
                    check_name(&name)?;
                    set(&mut entries.borrow_mut(), name, value, &self.budget)
                }
                other => refused(format!("it changes a {}", other.kind())),
            },
            _ => refused("it assigns to something that is not a variable"),
        }
    }

    fn assign_all(&mut self, targets: &'t [Expr<'t>], value: &Value) -> Result<()> {
        let items = value.items(&self.budget)?;
        if items.len() != targets.len() {
            return refused(format!("it takes {} values for {}", items.len(), targets.len()));
        }
        targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
    }

    /// Applies a chain of filters to a value.
    fn filtered(&mut self, filter: Option<&'t Expr<'t>>, value: Value) -> Result<Value> {
        let Some(expr) = filter else { return Ok(value) };
        let Expr::Filter(filter) = expr else { return refused("a filter block has no filter") };
        self.budget.enter()?;
        let value = self.filtered(filter.expr.as_ref(), value)?;
        let arguments = self.arguments(&filter.args)?;
        let value = apply(filter.name, &value, arguments, &self.budget)?;
        self.budget.leave();
        Ok(value)
    }

    /// A macro as a value.
    fn defined(&mut self, declared: &'t Macro<'t>) -> Value {
        Value::Macro(number_of(&mut self.macros, declared), self.scopes.current())
    }

    /// The text that a macro writes. `caller` is the body of a `call` block.
    pub fn call_macro(&mut self, number: usize, scope: usize, mut arguments: Arguments, caller: Option<Value>) -> Result<String> {
        let declared = self.macros[number];
        self.scopes.push_in(scope);
        if let Some(caller) = caller {
            self.scopes.set("caller", caller);
        }
        let without_default = declared.args.len().saturating_sub(declared.defaults.len());
        for (i, target) in declared.args.iter().enumerate() {
            let Expr::Var(variable) = target else { return refused("a macro of it has an argument without a name") };
            let value = match (arguments.take(i, variable.id), i.checked_sub(without_default)) {
                (Some(value), _) => value,
                (None, Some(default)) => self.value(&declared.defaults[default])?,
                (None, None) => Value::Undefined,
            };
            self.scopes.set(variable.id, value);
        }
        if self.takes_more {
            let named = arguments.named().into_iter().map(|(name, value)| (Value::text(name), value)).collect();
            self.scopes.set("varargs", Value::tuple(arguments.rest(), &self.budget)?);
            self.scopes.set("kwargs", Value::map(named, &self.budget)?);
        }
        arguments.end()?;
        let text = self.captured(|renderer| renderer.run_all(&declared.body))?;
        self.scopes.pop();
        Ok(text)
    }

    fn run_call_block(&mut self, block: &'t CallBlock<'t>) -> Result<()> {
        let caller = self.defined(&block.macro_decl);
        let arguments = self.arguments(&block.call.args)?;
        match self.value(&block.call.expr)? {
            Value::Macro(number, scope) => {
                let text = self.call_macro(number, scope, arguments, Some(caller))?;
                self.emit(&text)
            }
            other => refused(format!("it calls a {}", other.kind())),
        }
    }
}

/// The index of a part of the template in a list. Adds the part if the list does not have it.
fn number_of<'t, T>(parts: &mut Vec<&'t T>, part: &'t T) -> usize {
    parts.iter().position(|known| std::ptr::eq(*known, part)).unwrap_or_else(|| {
        parts.push(part);
        parts.len() - 1
    })
}
