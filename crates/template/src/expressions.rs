//! Evaluates expressions.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use minijinja::machinery::ast::{BinOp, BinOpKind, Call, CallArg, Compare, CompareOpKind, Const, Expr, Slice, UnaryOp, UnaryOpKind};
use minijinja::value::ValueKind;

use super::arguments::Arguments;
use super::attributes::{attribute, member};
use super::budget::Budget;
use super::compare::{equals, order};
use super::error::{Result, refused};
use super::filters::apply;
use super::maps::set;
use super::methods;
use super::operators;
use super::predicates::test;
use super::renderer::Renderer;
use super::texts::formatted_by_percent;
use super::value::{Cycler, Function, ListKind, Value, check_name, check_storable};

/// Maximum length of a range, as in Jinja2's sandbox.
const MAX_RANGE: usize = 100_000;

impl<'t> Renderer<'t> {
    /// The value of an expression.
    pub fn value(&mut self, expr: &'t Expr<'t>) -> Result<Value> {
        self.safe_value(expr).map(Value::plain)
    }

    /// The value of an expression, which keeps the mark that a text is escaped.
    pub fn safe_value(&mut self, expr: &'t Expr<'t>) -> Result<Value> {
        self.budget.enter()?;
        let value = self.value_of(expr)?;
        self.budget.leave();
        Ok(value)
    }

    fn value_of(&mut self, expr: &'t Expr<'t>) -> Result<Value> {
        match expr {
            Expr::Var(variable) => {
                self.budget.spend(variable.id.len())?;
                Ok(self.variable(variable.id))
            }
            Expr::Const(constant) => literal(constant, &self.budget),
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(operation) => self.unary(operation),
            Expr::BinOp(operation) => self.binary(operation),
            Expr::Compare(comparison) => self.comparison(comparison),
            Expr::IfExpr(choice) => {
                let chosen = if self.value(&choice.test_expr)?.is_true() { Some(&choice.true_expr) } else { choice.false_expr.as_ref() };
                chosen.map_or(Ok(Value::Undefined), |chosen| self.safe_value(chosen))
            }
            Expr::Filter(filter) => {
                let Some(expr) = &filter.expr else { return refused("it has a filter of nothing") };
                let value = self.safe_value(expr)?;
                let arguments = self.arguments(&filter.args)?;
                apply(filter.name, &value, arguments, &self.budget)
            }
            Expr::Test(asked) => {
                let value = self.value(&asked.expr)?;
                let arguments = self.arguments(&asked.args)?;
                test(asked.name, &value, arguments, &self.budget).map(Value::Bool)
            }
            Expr::GetAttr(access) => member(&self.value(&access.expr)?, access.name, &self.budget),
            Expr::GetItem(access) => {
                let value = self.value(&access.expr)?;
                let key = self.value(&access.subscript_expr)?;
                attribute(&value, &key, &self.budget)
            }
            Expr::Call(call) => self.call(call),
            Expr::List(list) => Value::list(self.values(&list.items)?, &self.budget),
            Expr::Tuple(tuple) => Value::tuple(self.values(&tuple.items)?, &self.budget),
            Expr::Map(map) => {
                let (keys, values) = (self.values(&map.keys)?, self.values(&map.values)?);
                Value::map(keys.into_iter().zip(values).collect(), &self.budget)
            }
        }
    }

    fn values(&mut self, exprs: &'t [Expr<'t>]) -> Result<Vec<Value>> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    fn slice(&mut self, slice: &'t Slice<'t>) -> Result<Value> {
        let value = self.value(&slice.expr)?;
        let mut bound = |expr: &'t Option<Expr<'t>>| {
            let bound = expr.as_ref().map(|expr| self.value(expr)).transpose()?;
            bound.filter(|bound| !matches!(bound, Value::None)).map(|bound| bound.as_int()).transpose()
        };
        let bounds = [bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?];
        operators::slice(&value, bounds, &self.budget)
    }

    fn unary(&mut self, operation: &'t UnaryOp<'t>) -> Result<Value> {
        let value = self.value(&operation.expr)?;
        match operation.op {
            UnaryOpKind::Not => Ok(Value::Bool(!value.is_true())),
            UnaryOpKind::Neg => operators::negative(&value),
        }
    }

    fn binary(&mut self, operation: &'t BinOp<'t>) -> Result<Value> {
        if matches!(operation.op, BinOpKind::Add) {
            let (a, b) = (self.safe_value(&operation.left)?, self.safe_value(&operation.right)?);
            return operators::add(&a, &b, &self.budget);
        }
        let a = self.value(&operation.left)?;
        match (operation.op, a.is_true()) {
            (BinOpKind::ScAnd, false) | (BinOpKind::ScOr, true) => return Ok(a),
            _ => {}
        }
        let b = self.value(&operation.right)?;
        let budget = &self.budget;
        let compared = |op| compare(op, &a, &b, budget).map(Value::Bool);
        match operation.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => Ok(b),
            BinOpKind::Eq => compared(CompareOpKind::Eq),
            BinOpKind::Ne => compared(CompareOpKind::Ne),
            BinOpKind::Lt => compared(CompareOpKind::Lt),
            BinOpKind::Lte => compared(CompareOpKind::Lte),
            BinOpKind::Gt => compared(CompareOpKind::Gt),
            BinOpKind::Gte => compared(CompareOpKind::Gte),
            BinOpKind::In => compared(CompareOpKind::In),
            BinOpKind::Add => operators::add(&a, &b, budget),
            BinOpKind::Sub => operators::subtract(&a, &b),
            BinOpKind::Mul => operators::multiply(&a, &b, budget),
            BinOpKind::Div => operators::divide(&a, &b),
            BinOpKind::FloorDiv => operators::divide_down(&a, &b),
            BinOpKind::Rem => match (&a, &b) {
                (Value::Text(format), Value::List(values)) if values.kind == ListKind::Tuple => {
                    formatted_by_percent(format, &values.items, budget)
                }
                (Value::Text(format), _) => formatted_by_percent(format, &[b], budget),
                _ => operators::remainder(&a, &b),
            },
            BinOpKind::Pow => operators::power(&a, &b),
            BinOpKind::Concat => operators::concat(&a, &b, budget),
        }
    }

    /// `a < b < c` is true if both parts are true.
    fn comparison(&mut self, comparison: &'t Compare<'t>) -> Result<Value> {
        let mut left = self.value(&comparison.expr)?;
        for operation in &comparison.ops {
            let right = self.value(&operation.expr)?;
            if !compare(operation.op, &left, &right, &self.budget)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    /// The result of a call.
    pub fn call(&mut self, call: &'t Call<'t>) -> Result<Value> {
        if let Expr::GetAttr(access) = &call.expr {
            let object = self.value(&access.expr)?;
            let arguments = self.arguments(&call.args)?;
            let own = match &object {
                Value::Undefined | Value::Map(_) | Value::Namespace(_) => attribute(&object, &Value::text(access.name), &self.budget)?,
                _ => Value::Undefined,
            };
            return match own {
                Value::Function(Function::Method) => methods::call(&object, access.name, arguments, &self.budget),
                function @ (Value::Macro(..) | Value::Function(_)) => self.call_value(&function, arguments),
                _ => methods::call(&object, access.name, arguments, &self.budget),
            };
        }
        let function = self.value(&call.expr)?;
        let arguments = self.arguments(&call.args)?;
        match (&function, &call.expr) {
            (Value::Undefined, Expr::Var(variable)) => refused(format!("it calls {}, which is unknown", variable.id)),
            _ => self.call_value(&function, arguments),
        }
    }

    fn call_value(&mut self, function: &Value, arguments: Arguments) -> Result<Value> {
        match function {
            Value::Macro(number, scope) => self.call_macro(*number, *scope, arguments, None).map(Value::text),
            Value::Function(function) => self.call_function(*function, arguments),
            Value::Cycler(joiner) if joiner.is_joiner => {
                arguments.end()?;
                Ok(joiner.items[joiner.at.replace(1)].clone())
            }
            Value::Loop(state) => self.call_loop(state, arguments).map(Value::text),
            other => refused(format!("it calls a {}", other.kind())),
        }
    }

    fn call_function(&mut self, function: Function, mut arguments: Arguments) -> Result<Value> {
        let budget = &self.budget;
        let value = match function {
            Function::Range => range(&mut arguments, budget)?,
            Function::Dict => Value::map(entries(&mut arguments, budget)?, budget)?,
            Function::Namespace => {
                let entries = entries(&mut arguments, budget)?;
                entries.iter().try_for_each(|(_, value)| check_storable(value))?;
                entries.iter().try_for_each(|(name, _)| check_name(name))?;
                Value::Namespace(Rc::new(RefCell::new(entries)))
            }
            Function::RaiseException => return refused(arguments.required(0, "message")?.as_text()?),
            Function::StrftimeNow(date) => {
                let format = arguments.required(0, "format")?;
                let format = format.as_text()?;
                budget.spend(64 * format.len())?;
                match date.strftime(format) {
                    Some(text) => Value::text(text),
                    None => return refused(format!("unknown date format {format:?}")),
                }
            }
            Function::Cycler => cycler(arguments.rest(), false)?,
            Function::Joiner => {
                let separator = arguments.take(0, "sep").unwrap_or_else(|| Value::text(", "));
                cycler(vec![Value::text(""), separator], true)?
            }
            Function::Method => return refused("it calls a method by another name"),
        };
        arguments.end()?;
        Ok(value)
    }

    /// Evaluates the arguments of a call, including those of `*list` and `**map`.
    pub fn arguments(&mut self, args: &'t [CallArg<'t>]) -> Result<Arguments> {
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        for arg in args {
            match arg {
                CallArg::Pos(expr) => positional.push(self.value(expr)?),
                CallArg::Kwarg(name, expr) => named.push(((*name).to_owned(), self.value(expr)?)),
                CallArg::PosSplat(expr) => positional.extend(self.value(expr)?.items(&self.budget)?),
                CallArg::KwargSplat(expr) => {
                    let Value::Map(map) = self.value(expr)? else { return refused("it uses ** on something that is not a map") };
                    for (key, value) in &map.entries {
                        self.budget.spend(key.as_text()?.len() + size_of::<Value>())?;
                        named.push((key.as_text()?.to_owned(), value.clone()));
                    }
                }
            }
        }
        Ok(Arguments::new(positional, named))
    }
}

/// The value of a literal. Pays for its text.
fn literal(constant: &Const, budget: &Budget) -> Result<Value> {
    let value = &constant.value;
    Ok(match value.kind() {
        ValueKind::None => Value::None,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            budget.spend(text.len())?;
            Value::text(text)
        }
        ValueKind::Number => match (value.is_integer(), value.as_i64(), f64::try_from(value.clone())) {
            (true, Some(number), _) => Value::Int(number),
            (false, _, Ok(number)) => Value::Float(number),
            _ => return refused("a number of it is too large"),
        },
        _ => Value::Undefined,
    })
}

fn compare(op: CompareOpKind, a: &Value, b: &Value, budget: &Budget) -> Result<bool> {
    Ok(match op {
        CompareOpKind::Eq => equals(a, b, budget)?,
        CompareOpKind::Ne => !equals(a, b, budget)?,
        CompareOpKind::Lt => order(a, b, budget)?.is_some_and(|order| order.is_lt()),
        CompareOpKind::Lte => order(a, b, budget)?.is_some_and(|order| order.is_le()),
        CompareOpKind::Gt => order(a, b, budget)?.is_some_and(|order| order.is_gt()),
        CompareOpKind::Gte => order(a, b, budget)?.is_some_and(|order| order.is_ge()),
        CompareOpKind::In => operators::contains(b, a, budget)?,
        CompareOpKind::NotIn => !operators::contains(b, a, budget)?,
    })
}

/// `range(stop)`, `range(start, stop)`, `range(start, stop, step)`.
fn range(arguments: &mut Arguments, budget: &Budget) -> Result<Value> {
    let (first, second) = (arguments.required(0, "start")?.as_int()?, arguments.int(1, "stop")?);
    let (start, stop) = second.map_or((0, first), |stop| (first, stop));
    let step = arguments.int(2, "step")?.unwrap_or(1);
    if step == 0 {
        return refused("a range of it has the step 0");
    }
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(number) = next.filter(|&number| if step > 0 { number < stop } else { number > stop }) {
        if numbers.len() == MAX_RANGE {
            return refused("a range of it is too long");
        }
        budget.spend(size_of::<Value>())?;
        numbers.push(Value::Int(number));
        next = number.checked_add(step);
    }
    Value::list(numbers, budget)
}

fn cycler(items: Vec<Value>, is_joiner: bool) -> Result<Value> {
    items.iter().try_for_each(check_storable)?;
    Ok(Value::Cycler(Rc::new(Cycler { items, at: Cell::new(0), is_joiner })))
}

/// Keys and values of a map or of pairs, and of the named arguments.
fn entries(arguments: &mut Arguments, budget: &Budget) -> Result<Vec<(Value, Value)>> {
    let mut entries = match arguments.take(0, "") {
        Some(Value::Map(map)) => map.entries.clone(),
        Some(pairs) => {
            let pair = |pair: Value| match &pair.items(budget)?[..] {
                [key, value] => Ok((key.clone(), value.clone())),
                _ => refused("it builds a map from something that is not a pair"),
            };
            pairs.items(budget)?.into_iter().map(pair).collect::<Result<_>>()?
        }
        None => Vec::new(),
    };
    for (key, value) in arguments.named() {
        set(&mut entries, Value::text(key), value, budget)?;
    }
    Ok(entries)
}
