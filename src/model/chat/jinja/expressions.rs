//! The value of an expression.

use std::cell::RefCell;
use std::rc::Rc;

use minijinja::machinery::ast::{BinOp, BinOpKind, Call, CallArg, Compare, CompareOpKind, Const, Expr, Slice, UnaryOp, UnaryOpKind};
use minijinja::value::ValueKind;

use super::arguments::Arguments;
use super::attributes::attribute;
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
use super::value::{Function, Value, check_storable};

impl<'t> Renderer<'t> {
    /// The value of an expression.
    pub fn value(&mut self, expr: &'t Expr<'t>) -> Result<Value> {
        self.budget.enter()?;
        let value = self.value_of(expr)?;
        self.budget.leave();
        Ok(value)
    }

    fn value_of(&mut self, expr: &'t Expr<'t>) -> Result<Value> {
        match expr {
            Expr::Var(variable) => Ok(self.variable(variable.id)),
            Expr::Const(constant) => literal(constant),
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(operation) => self.unary(operation),
            Expr::BinOp(operation) => self.binary(operation),
            Expr::Compare(comparison) => self.comparison(comparison),
            Expr::IfExpr(choice) => {
                let chosen = if self.value(&choice.test_expr)?.is_true() { Some(&choice.true_expr) } else { choice.false_expr.as_ref() };
                chosen.map_or(Ok(Value::Undefined), |chosen| self.value(chosen))
            }
            Expr::Filter(filter) => {
                let Some(expr) = &filter.expr else { return refused("it has a filter of nothing") };
                let value = self.value(expr)?;
                let arguments = self.arguments(&filter.args)?;
                apply(filter.name, &value, arguments, &self.budget)
            }
            Expr::Test(asked) => {
                let value = self.value(&asked.expr)?;
                let arguments = self.arguments(&asked.args)?;
                test(asked.name, &value, arguments, &self.budget).map(Value::Bool)
            }
            Expr::GetAttr(access) => attribute(&self.value(&access.expr)?, &Value::text(access.name), &self.budget),
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
                (Value::Text(format), Value::List(values)) if values.is_tuple => formatted_by_percent(format, values.items.clone(), budget),
                (Value::Text(format), _) => formatted_by_percent(format, vec![b], budget),
                _ => operators::remainder(&a, &b),
            },
            BinOpKind::Pow => operators::power(&a, &b),
            BinOpKind::Concat => operators::concat(&a, &b, budget),
        }
    }

    /// `a < b < c` holds where both parts do.
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

    /// What a call gives.
    pub fn call(&mut self, call: &'t Call<'t>) -> Result<Value> {
        if let Expr::GetAttr(access) = &call.expr {
            let object = self.value(&access.expr)?;
            let arguments = self.arguments(&call.args)?;
            let own = match &object {
                Value::Undefined | Value::Map(_) | Value::Namespace(_) => attribute(&object, &Value::text(access.name), &self.budget)?,
                _ => Value::Undefined,
            };
            return match own {
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
            other => refused(format!("it calls a {}", other.kind())),
        }
    }

    fn call_function(&mut self, function: Function, mut arguments: Arguments) -> Result<Value> {
        let budget = &self.budget;
        let value = match function {
            Function::Range => range(&mut arguments, budget)?,
            Function::Dict => Value::map(named(&mut arguments), budget)?,
            Function::Namespace => {
                let mut entries = match arguments.take(0, "") {
                    Some(Value::Map(map)) => map.entries.clone(),
                    Some(other) => return refused(format!("it makes a namespace of a {}", other.kind())),
                    None => Vec::new(),
                };
                for (key, value) in named(&mut arguments) {
                    check_storable(&value)?;
                    set(&mut entries, key, value, budget)?;
                }
                Value::Namespace(Rc::new(RefCell::new(entries)))
            }
            Function::RaiseException => return refused(arguments.need(0, "message")?.as_text()?),
            Function::StrftimeNow(date) => {
                let format = arguments.need(0, "format")?;
                let format = format.as_text()?;
                budget.spend(16 * format.len())?;
                match date.strftime(format) {
                    Some(text) => Value::text(text),
                    None => return refused(format!("unknown date format {format:?}")),
                }
            }
        };
        arguments.end()?;
        Ok(value)
    }

    /// The arguments of a call, those of `*list` and `**map` too.
    pub fn arguments(&mut self, args: &'t [CallArg<'t>]) -> Result<Arguments> {
        let (mut by_place, mut by_name) = (Vec::new(), Vec::new());
        for arg in args {
            match arg {
                CallArg::Pos(expr) => by_place.push(self.value(expr)?),
                CallArg::Kwarg(name, expr) => by_name.push(((*name).to_owned(), self.value(expr)?)),
                CallArg::PosSplat(expr) => by_place.extend(self.value(expr)?.items(&self.budget)?),
                CallArg::KwargSplat(expr) => {
                    let Value::Map(map) = self.value(expr)? else { return refused("it calls with ** what is no map") };
                    for (key, value) in &map.entries {
                        self.budget.spend(key.as_text()?.len() + size_of::<Value>())?;
                        by_name.push((key.as_text()?.to_owned(), value.clone()));
                    }
                }
            }
        }
        Ok(Arguments::new(by_place, by_name))
    }
}

/// What the template says as it is.
fn literal(constant: &Const) -> Result<Value> {
    let value = &constant.value;
    Ok(match value.kind() {
        ValueKind::None => Value::None,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::String => Value::text(value.as_str().unwrap_or_default()),
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
    let (first, second) = (arguments.need(0, "start")?.as_int()?, arguments.int(1, "stop")?);
    let (start, stop) = second.map_or((0, first), |stop| (first, stop));
    let step = arguments.int(2, "step")?.unwrap_or(1);
    if step == 0 {
        return refused("a range of it has the step 0");
    }
    let mut numbers = Vec::new();
    let mut next = Some(start);
    while let Some(number) = next.filter(|&number| if step > 0 { number < stop } else { number > stop }) {
        budget.spend(size_of::<Value>())?;
        numbers.push(Value::Int(number));
        next = number.checked_add(step);
    }
    Value::list(numbers, budget)
}

fn named(arguments: &mut Arguments) -> Vec<(Value, Value)> {
    arguments.named().into_iter().map(|(name, value)| (Value::text(name), value)).collect()
}
