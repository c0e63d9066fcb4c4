import { malformed } from "../../lib/failure.ts";

/** A value of a property, or of an expression. */
type ODataValue = string | number | boolean;

/** An entry by its properties. */
export type ODataEntry = Readonly<Record<string, ODataValue>>;

/** A condition on entries, as read from `$filter`. */
export interface ODataFilter {
  /** Whether an entry meets it. */
  readonly matches: (entry: ODataEntry) => boolean;
  /** The id that every matching entry has; undefined if it may have any. */
  readonly id: string | undefined;
}

const LENGTH_MAX = 4096;
const DEPTH_MAX = 30;

/** An expression that is evaluated for an entry. */
interface Expression {
  readonly evaluate: (entry: ODataEntry) => ODataValue;
  /** The value of `Id` without which it is false. */
  readonly id?: string | undefined;
  /** Whether it is `Id`, in any case. */
  readonly isId?: boolean;
  readonly constant?: ODataValue;
}

const TOKEN = /('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([(),])|(\S)/g;

type Token = readonly [kind: "text" | "number" | "word" | "mark", text: string];

const FUNCTIONS: Readonly<Record<string, (...texts: string[]) => ODataValue>> = {
  tolower: (text = "") => text.toLowerCase(),
  toupper: (text = "") => text.toUpperCase(),
  substringof: (part = "", text = "") => text.includes(part),
  startswith: (text = "", part = "") => text.startsWith(part),
  endswith: (text = "", part = "") => text.endsWith(part),
};
const ARGUMENTS: Readonly<Record<string, number>> = {
  tolower: 1,
  toupper: 1,
  substringof: 2,
  startswith: 2,
  endswith: 2,
};

const COMPARISONS: Readonly<Record<string, (left: ODataValue, right: ODataValue) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  gt: (left, right) => left > right,
  ge: (left, right) => left >= right,
  lt: (left, right) => left < right,
  le: (left, right) => left <= right,
};

/**
 * Reads a condition in the part of OData that NuGet clients send: comparisons, `and`, `or`, `not`,
 * and functions of texts.
 *
 * @param properties The properties that entries have.
 * @throws Failure `malformed` for anything else, and for properties that entries do not have.
 * @see https://www.odata.org/documentation/odata-version-2-0/uri-conventions/
 */
export function parseFilter(text: string, properties: ReadonlySet<string>): ODataFilter {
  if (text.length > LENGTH_MAX) throw malformed("the filter is too long");
  const { evaluate, id } = new FilterParser(tokenize(text), properties).parse();
  return { matches: (entry) => evaluate(entry) === true, id };
}

function tokenize(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), ([, quoted, number, word, mark]): Token => {
    if (quoted !== undefined) return ["text", quoted.slice(1, -1).replaceAll("''", "'")];
    if (number !== undefined) return ["number", number];
    if (word !== undefined) return ["word", word];
    if (mark !== undefined) return ["mark", mark];
    throw refusal();
  });
}

const refusal = () =>
  malformed("the filter is not in the part of OData that is understood: see the documentation");

/**
 * Reads an expression by recursive descent: `or` binds the least, then `and`, `not`, comparisons.
 */
class FilterParser {
  private at = 0;
  private depth = 0;
  private readonly tokens: readonly Token[];
  private readonly properties: ReadonlySet<string>;

  constructor(tokens: readonly Token[], properties: ReadonlySet<string>) {
    this.tokens = tokens;
    this.properties = properties;
  }

  parse(): Expression {
    const expression = this.readOr();
    if (this.at < this.tokens.length) throw refusal();
    return expression;
  }

  private readOr(): Expression {
    if (++this.depth > DEPTH_MAX) throw refusal();
    let left = this.readAnd();
    while (this.take("word", "or")) {
      const [a, b] = [left, this.readAnd()];
      left = { evaluate: (entry) => a.evaluate(entry) === true || b.evaluate(entry) === true };
      if (a.id === b.id) left = { ...left, id: a.id };
    }
    this.depth--;
    return left;
  }

  private readAnd(): Expression {
    let left = this.readComparison();
    while (this.take("word", "and")) {
      const [a, b] = [left, this.readComparison()];
      const evaluate = (entry: ODataEntry) =>
        a.evaluate(entry) === true && b.evaluate(entry) === true;
      left = { evaluate, id: a.id ?? b.id };
    }
    return left;
  }

  private readComparison(): Expression {
    if (this.take("word", "not")) {
      if (++this.depth > DEPTH_MAX) throw refusal();
      const negated = this.readComparison();
      this.depth--;
      return { evaluate: (entry) => negated.evaluate(entry) !== true };
    }
    const left = this.readValue();
    const [kind, word = ""] = this.tokens[this.at] ?? [];
    const compare = kind === "word" && Object.hasOwn(COMPARISONS, word) && COMPARISONS[word];
    if (!compare) return left;
    this.at++;
    const right = this.readValue();
    const evaluate = (entry: ODataEntry) => compare(left.evaluate(entry), right.evaluate(entry));
    const constant = left.isId ? right.constant : right.isId ? left.constant : undefined;
    const id = word === "eq" && typeof constant === "string" ? constant : undefined;
    return { evaluate, id };
  }

  private readValue(): Expression {
    const [kind, text = ""] = this.tokens[this.at] ?? [];
    this.at++;
    if (kind === "text") return { evaluate: () => text, constant: text };
    if (kind === "number") return { evaluate: () => Number(text) };
    if (kind === "mark" && text === "(") {
      const inner = this.readOr();
      if (!this.take("mark", ")")) throw refusal();
      return inner;
    }
    if (kind !== "word") throw refusal();
    if (this.take("mark", "(")) return this.readCall(text.toLowerCase());
    if (text === "true" || text === "false") return { evaluate: () => text === "true" };
    if (!this.properties.has(text)) throw refusal();
    return { evaluate: (entry) => entry[text] ?? "", isId: text === "Id" };
  }

  private readCall(name: string): Expression {
    const call = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!call || ++this.depth > DEPTH_MAX) throw refusal();
    const given: Expression[] = [];
    do given.push(this.readValue());
    while (this.take("mark", ","));
    if (!this.take("mark", ")") || given.length !== ARGUMENTS[name]) throw refusal();
    this.depth--;
    return {
      evaluate: (entry) => call(...given.map(({ evaluate }) => String(evaluate(entry)))),
      isId: given.length === 1 && given[0]?.isId === true,
    };
  }

  private take(kind: Token[0], text: string): boolean {
    const [nextKind, next] = this.tokens[this.at] ?? [];
    if (nextKind !== kind || next !== text) return false;
    this.at++;
    return true;
  }
}
