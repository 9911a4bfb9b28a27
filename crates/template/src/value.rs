//! Values of a template: Python's values, as far as templates use them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::budget::Budget;
use super::error::{JinjaError, Result, refused};
use crate::Date;

/// Maximum nesting of lists and maps, because they are written, compared and dropped recursively.
const MAX_DEPTH: usize = 64;

/// A value of a template. Cheap to clone.
#[derive(Clone)]
pub enum Value {
    /// Jinja's undefined value: a variable, key or attribute that does not exist. Written as an empty text.
    Undefined,
    /// Python's `None`.
    None,
    /// Python's `bool`, which is also a number.
    Bool(bool),
    /// Python's `int`, with 64 bits. A result that does not fit is an error.
    Int(i64),
    /// Python's `float`.
    Float(f64),
    /// Python's `str`.
    Text(Rc<str>),
    /// Escaped text from the filters `safe` and `escape`. Text that is added to it is escaped. See `Value::plain`.
    Safe(Rc<str>),
    /// A list, a tuple, a view of a map or a generator. See [`Value::list`].
    List(Rc<List>),
    /// Python's `dict`. See [`Value::map`].
    Map(Rc<Map>),
    /// Result of `namespace()`, the only mutable value. Other values cannot contain it, so it cannot contain itself.
    Namespace(Rc<RefCell<Vec<(Self, Self)>>>),
    /// The variable `loop`.
    Loop(Rc<Loop>),
    /// The result of `cycler(..)` or `joiner(..)`.
    Cycler(Rc<Cycler>),
    /// Index of the macro, and the scope in which it is defined.
    Macro(usize, usize),
    /// A function that the caller defines as a variable. See [`functions`].
    Function(Function),
}

/// The items of a [`Value::List`].
pub struct List {
    pub(crate) items: Vec<Value>,
    pub(crate) kind: ListKind,
    /// Whether the items of a generator were taken.
    is_spent: Cell<bool>,
    depth: usize,
}

/// Python's kinds of lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    List,
    Tuple,
    /// A tuple with named items: the result of `groupby`.
    Group,
    /// The keys, values or items of a map. They have a length, but no indices.
    View,
    /// The result of most filters. It has no length and no indices, counts as true, and returns its items once.
    Generator,
}

/// A map that keeps the order in which keys were added.
pub struct Map {
    pub(crate) entries: Vec<(Value, Value)>,
    pub(crate) depth: usize,
}

/// The state of a loop, which templates read as the variable `loop`.
pub struct Loop {
    pub(crate) items: Vec<Value>,
    pub(crate) index: Cell<usize>,
    /// Arguments of the last call of `changed`.
    pub(crate) last: RefCell<Option<Value>>,
    /// Number of loops of the same statement around this one.
    pub(crate) depth: usize,
    /// For recursive loops, the index of the statement and the scope of the statement.
    pub(crate) statement: Option<(usize, usize)>,
}

/// The state of a `cycler(..)` or a `joiner(..)`. A cycler returns its items in turn from its method `next`. A joiner is called as a
/// function: it returns its first item once, and then always its second.
pub struct Cycler {
    pub(crate) is_joiner: bool,
    pub(crate) items: Vec<Value>,
    pub(crate) at: Cell<usize>,
}

/// A function that templates can call. [`functions`] has them under their names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Python's `range`.
    Range,
    /// Python's `dict`.
    Dict,
    /// Jinja's `namespace`: an object whose attributes templates can set.
    Namespace,
    /// transformers' `raise_exception`: ends the rendering with [`JinjaError::Refused`].
    RaiseException,
    /// transformers' `strftime_now`, which formats this day.
    StrftimeNow(Date),
    /// Jinja's `cycler`.
    Cycler,
    /// Jinja's `joiner`.
    Joiner,
    /// A method that is accessed but not called.
    Method,
}

/// The functions that Hugging Face transformers gives every chat template, with their names. `strftime_now` formats `date`.
pub fn functions(date: Date) -> [(&'static str, Value); 7] {
    [
        ("range", Function::Range),
        ("dict", Function::Dict),
        ("namespace", Function::Namespace),
        ("cycler", Function::Cycler),
        ("joiner", Function::Joiner),
        ("raise_exception", Function::RaiseException),
        ("strftime_now", Function::StrftimeNow(date)),
    ]
    .map(|(name, function)| (name, Value::Function(function)))
}

impl Value {
    /// A copy of the text. It costs nothing of a [`Budget`], because the caller has the text already.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().into())
    }

    /// A list. Pays for its items. Errors if the budget is too small, or if values nest more than 64 deep.
    pub fn list(items: Vec<Self>, budget: &Budget) -> Result<Self> {
        Self::of_kind(ListKind::List, items, budget)
    }

    pub(crate) fn tuple(items: Vec<Self>, budget: &Budget) -> Result<Self> {
        Self::of_kind(ListKind::Tuple, items, budget)
    }

    pub(crate) fn generator(items: Vec<Self>, budget: &Budget) -> Result<Self> {
        Self::of_kind(ListKind::Generator, items, budget)
    }

    pub(crate) fn of_kind(kind: ListKind, items: Vec<Self>, budget: &Budget) -> Result<Self> {
        Ok(Self::List(Rc::new(List { depth: depth_over(items.iter(), budget)?, items, kind, is_spent: Cell::new(false) })))
    }

    /// Type name for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined value",
            Self::None => "none",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Float(_) => "number",
            Self::Text(_) | Self::Safe(_) => "text",
            Self::List(list) if list.kind == ListKind::Generator => "generator",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Namespace(_) => "namespace",
            Self::Loop(_) => "loop",
            Self::Macro(..) | Self::Function(_) | Self::Cycler(_) => "function",
        }
    }

    /// Removes the mark that a text is escaped, which only `+` and some filters use.
    pub(crate) fn plain(self) -> Self {
        if let Self::Safe(text) = self { Self::Text(text) } else { self }
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Undefined | Self::None => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) | Self::Safe(text) => !text.is_empty(),
            Self::List(list) => list.kind == ListKind::Generator || !list.items.is_empty(),
            Self::Map(map) => !map.entries.is_empty(),
            Self::Namespace(_) | Self::Loop(_) | Self::Cycler(_) | Self::Macro(..) | Self::Function(_) => true,
        }
    }

    pub(crate) fn as_text(&self) -> Result<&str> {
        match self {
            Self::Text(text) | Self::Safe(text) => Ok(text),
            other => refused(format!("it uses a {} as text", other.kind())),
        }
    }

    /// The value as a whole number. Booleans are numbers, as in Python.
    pub(crate) fn as_int(&self) -> Result<i64> {
        match self {
            Self::Int(number) => Ok(*number),
            Self::Bool(flag) => Ok(i64::from(*flag)),
            other => refused(format!("it uses a {} as a whole number", other.kind())),
        }
    }

    /// The value as a count. Negative numbers become 0.
    pub(crate) fn as_count(&self) -> Result<usize> {
        Ok(count(self.as_int()?))
    }

    /// The values that a loop runs over: the keys of a map, the characters of a text.
    pub(crate) fn items(&self, budget: &Budget) -> Result<Vec<Self>> {
        let length = if let Self::List(list) = self { Some(list.items.len()) } else { self.length() };
        budget.spend(length.unwrap_or(0).saturating_mul(size_of::<Self>()))?;
        match self {
            Self::Undefined => Ok(Vec::new()),
            Self::List(list) if list.kind == ListKind::Generator && list.is_spent.replace(true) => Ok(Vec::new()),
            Self::List(list) => Ok(list.items.clone()),
            Self::Map(map) => Ok(map.entries.iter().map(|(key, _)| key.clone()).collect()),
            Self::Text(text) => Ok(text.chars().map(|c| Self::text(c.encode_utf8(&mut [0; 4]))).collect()),
            other => refused(format!("it iterates over a {}", other.kind())),
        }
    }

    /// Number of values that [`Value::items`] returns, if Python knows it.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Undefined => Some(0),
            Self::List(list) => (list.kind != ListKind::Generator).then_some(list.items.len()),
            Self::Map(map) => Some(map.entries.len()),
            Self::Text(text) => Some(text.chars().count()),
            _ => None,
        }
    }

    fn depth(&self) -> Result<usize> {
        match self {
            Self::List(list) => Ok(list.depth),
            Self::Map(map) => Ok(map.depth),
            Self::Namespace(_) | Self::Loop(_) | Self::Cycler(_) => refused(format!("it puts a {} into another value", self.kind())),
            _ => Ok(0),
        }
    }
}

/// A number as a count. Negative numbers become 0, and numbers that do not fit become `usize::MAX`.
pub fn count(number: i64) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

/// Checks that another value may contain this one.
pub fn check_storable(value: &Value) -> Result<()> {
    value.depth().map(|_| ())
}

/// Checks that a namespace may have this name. transformers denies templates access to the names that Python itself stores there.
pub fn check_name(name: &Value) -> Result<()> {
    if name.as_text()?.starts_with('_') { refused("it stores a name that begins with _") } else { Ok(()) }
}

/// Nesting depth of a value that contains these items.
pub fn depth_over<'v>(items: impl Iterator<Item = &'v Value>, budget: &Budget) -> Result<usize> {
    let mut depth = 1;
    let mut count = 0;
    for item in items {
        depth = depth.max(item.depth()? + 1);
        count += 1;
    }
    budget.spend(count * size_of::<Value>())?;
    if depth > MAX_DEPTH { Err(JinjaError::TooDeep) } else { Ok(depth) }
}

impl Cycler {
    pub(crate) fn current(&self) -> Option<Value> {
        self.items.get(self.at.get()).cloned()
    }
}

impl List {
    /// Whether the items have indices: those of lists and tuples do.
    pub(crate) fn is_indexable(&self) -> bool {
        matches!(self.kind, ListKind::List | ListKind::Tuple | ListKind::Group)
    }
}

impl Loop {
    /// The value of `loop.name`.
    pub(crate) fn attribute(&self, name: &str) -> Option<Value> {
        let (index, length) = (self.index.get(), self.items.len());
        let number = |number: usize| Some(Value::Int(number as i64));
        match name {
            "index" => number(index + 1),
            "index0" => number(index),
            "revindex" => number(length - index),
            "revindex0" => number(length - index - 1),
            "first" => Some(Value::Bool(index == 0)),
            "last" => Some(Value::Bool(index + 1 == length)),
            "length" => number(length),
            "depth" => number(self.depth + 1),
            "depth0" => number(self.depth),
            "previtem" => index.checked_sub(1).map(|before| self.items[before].clone()),
            "nextitem" => self.items.get(index + 1).cloned(),
            _ => None,
        }
    }
}
