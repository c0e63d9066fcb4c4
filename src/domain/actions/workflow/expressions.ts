import type { data, Expr } from "@actions/expressions";
import type { FunctionInfo } from "@actions/expressions/funcs/info";

import { StepBudget } from "../../../lib/step-budget.ts";
import { WorkflowError } from "./workflow-error.ts";

/** What expressions can name. Secrets never are among them. */
export interface Contexts {
  readonly github: object;
  readonly inputs?: object;
  readonly vars?: object;
  readonly needs?: object;
  readonly matrix?: object;
  readonly strategy?: object;
}

/** A text between expressions, or an expression without its `${{ }}`. */
type Segment =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "expression"; readonly text: string; readonly offset: number };

/** Names that a runner knows and the server does not: empty where a name may be shown in parts. */
const OF_RUNNERS = ["env", "secrets", "steps", "job", "jobs", "runner"];
/** Characters and values that the expressions of one workflow may make. */
const STEPS_MAX = 4_000_000;
/** Messages quote expressions up to this length. */
const MESSAGE_MAX = 200;

/** Loads the library, which is large. */
export async function openExpressions(): Promise<Expressions> {
  return new Expressions(await import("@actions/expressions"));
}

/** Reads expressions. */
export class Expressions {
  private readonly library: typeof import("@actions/expressions");

  constructor(library: typeof import("@actions/expressions")) {
    this.library = library;
  }

  /**
   * Opens the values that expressions can name.
   *
   * @param isLenient Whether names that only a runner knows are empty instead of unknown.
   */
  open(contexts: Contexts, isLenient = false): ExpressionScope {
    const values = new Map<string, data.ExpressionData>();
    if (isLenient) for (const name of OF_RUNNERS) values.set(name, this.toData({}));
    for (const name of ["inputs", "vars", "needs", "matrix", "strategy"] as const) {
      if (contexts[name] || isLenient) values.set(name, this.toData(contexts[name] ?? {}));
    }
    const github = this.toData(contexts.github);
    // Gitea's own name for it.
    values.set("github", github).set("gitea", github);
    return new ExpressionScope(this, values, new StepBudget(STEPS_MAX));
  }

  /**
   * Checks how the expressions of a text are written, not what they name.
   *
   * @throws WorkflowError
   */
  check(text: string, isCondition: boolean): void {
    for (const segment of isCondition ? readCondition(text) : splitTemplate(text)) {
      if (segment.kind === "text") continue;
      const names = this.lex(segment).flatMap(({ lexeme }) =>
        /^[a-z_]/i.test(lexeme) ? lexeme : [],
      );
      this.parse(segment, names, names.map(toFunction));
    }
  }

  /** Whether an expression of a text names a context. */
  names(text: string, context: string): boolean {
    return splitTemplate(text).some(
      (segment) => segment.kind === "expression" && this.findNames(segment, context).length > 0,
    );
  }

  /** Puts a value in the place of a context's name, so that expressions do not depend on it. */
  inline(text: string, context: string, value: object): string {
    const literal = `fromJSON('${JSON.stringify(value).replaceAll("'", "''")}')`;
    const parts = splitTemplate(text).map((segment) => {
      if (segment.kind === "text") return segment.text;
      let expression = segment.text;
      for (const at of this.findNames(segment, context).toReversed()) {
        expression = expression.slice(0, at) + literal + expression.slice(at + context.length);
      }
      return `\${{${expression}}}`;
    });
    return parts.join("");
  }

  /** Where an expression names a context, in characters. */
  private findNames(segment: Segment & { kind: "expression" }, context: string): number[] {
    const tokens = this.lex(segment);
    const lines = lineStarts(segment.text);
    return tokens.flatMap(({ lexeme, range }, index) => {
      const isProperty = tokens[index - 1]?.lexeme === ".";
      if (isProperty || lexeme.toLowerCase() !== context) return [];
      return (lines[range.start.line] ?? 0) + range.start.column;
    });
  }

  /** @throws WorkflowError */
  parse(
    segment: Segment & { kind: "expression" },
    contexts: readonly string[],
    functions: readonly FunctionInfo[],
  ): Expr {
    const { Parser } = this.library;
    const tokens = this.lex(segment);
    if (tokens.length <= 1) throw new WorkflowError("There is no expression", segment.offset);
    return atOffset(segment.offset, () =>
      new Parser(tokens, [...contexts], [...functions]).parse(),
    );
  }

  private lex({ text, offset }: Segment & { kind: "expression" }) {
    const { tokens } = atOffset(offset, () => new this.library.Lexer(text).lex());
    // The library takes only the first doubled quote of a text for one.
    return tokens.map((token) =>
      token.lexeme.startsWith("'")
        ? { ...token, value: token.lexeme.slice(1, -1).replaceAll("''", "'") }
        : token,
    );
  }

  /** @throws WorkflowError */
  evaluate(
    segment: Segment & { kind: "expression" },
    values: ReadonlyMap<string, data.ExpressionData>,
    budget: StepBudget,
  ): data.ExpressionData {
    const tree = this.parse(segment, [...values.keys()], []);
    const dictionary = this.toDictionary(values);
    const functions = this.boundedFunctions(budget);
    const evaluator = new (boundedEvaluator(this.library, budget))(tree, dictionary, functions);
    return atOffset(segment.offset, () => evaluator.evaluate());
  }

  /** Functions whose results may be far larger than what they are given. */
  private boundedFunctions(budget: StepBudget) {
    const { data: kinds, wellKnownFunctions } = this.library;
    const { format, fromjson, join } = wellKnownFunctions;
    if (!format || !fromjson || !join) throw new Error("a function is not there");
    return new Map([
      [
        "format",
        {
          ...format,
          call: (...args: data.ExpressionData[]) => {
            for (const [, index] of (args[0]?.coerceString() ?? "").matchAll(/\{(\d+)\}/g)) {
              consume(budget, args[Number(index) + 1]?.coerceString().length ?? 0);
            }
            return format.call(...args);
          },
        },
      ],
      [
        "join",
        {
          ...join,
          call: (...args: data.ExpressionData[]) => {
            const [list, separator] = args;
            if (list instanceof kinds.Array) {
              const length = separator?.primitive ? separator.coerceString().length : 1;
              for (const item of list.values())
                consume(budget, item.coerceString().length + length);
            }
            return join.call(...args);
          },
        },
      ],
      [
        "fromjson",
        {
          ...fromjson,
          call: (value: data.ExpressionData) => this.toData(parseJson(value.coerceString())),
        },
      ],
    ]);
  }

  private toDictionary(values: Iterable<readonly [string, data.ExpressionData]>): data.Dictionary {
    const dictionary = new this.library.data.Dictionary();
    // The library takes the names of an object's own methods for keys that are there already.
    Reflect.set(dictionary, "indexMap", Object.create(null));
    for (const [name, value] of values) dictionary.add(name, value);
    return dictionary;
  }

  private toData(value: unknown): data.ExpressionData {
    const { data: kinds } = this.library;
    if (typeof value === "string") return new kinds.StringData(value);
    if (typeof value === "number") return new kinds.NumberData(value);
    if (typeof value === "boolean") return new kinds.BooleanData(value);
    if (Array.isArray(value)) {
      const list = new kinds.Array();
      for (const item of value) list.add(this.toData(item));
      return list;
    }
    if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value).filter(([, item]) => item !== undefined);
      return this.toDictionary(entries.map(([name, item]) => [name, this.toData(item)] as const));
    }
    return new kinds.Null();
  }

  toPlain(value: data.ExpressionData): unknown {
    const { data: kinds } = this.library;
    if (value instanceof kinds.Array) return value.values().map((item) => this.toPlain(item));
    if (value instanceof kinds.Dictionary) {
      const entries = value.pairs().map((pair) => [pair.key, this.toPlain(pair.value)] as const);
      return Object.fromEntries(entries);
    }
    return value instanceof kinds.Null ? null : value.value;
  }

  with(
    values: ReadonlyMap<string, data.ExpressionData>,
    more: Readonly<Record<string, object>>,
  ): Map<string, data.ExpressionData> {
    const added = Object.entries(more).map(([name, value]) => [name, this.toData(value)] as const);
    return new Map([...values, ...added]);
  }
}

/** Values that expressions can name, and the work that all of them together may take. */
export class ExpressionScope {
  private readonly expressions: Expressions;
  private readonly values: ReadonlyMap<string, data.ExpressionData>;
  private readonly budget: StepBudget;

  constructor(
    expressions: Expressions,
    values: ReadonlyMap<string, data.ExpressionData>,
    budget: StepBudget,
  ) {
    this.expressions = expressions;
    this.values = values;
    this.budget = budget;
  }

  /** The same with more values. */
  with(more: Readonly<Record<string, object>>): ExpressionScope {
    return new ExpressionScope(
      this.expressions,
      this.expressions.with(this.values, more),
      this.budget,
    );
  }

  /**
   * Replaces the expressions of a text.
   *
   * @throws WorkflowError
   */
  readText(text: string): string {
    const parts = splitTemplate(text).map((segment) =>
      segment.kind === "text" ? segment.text : this.evaluate(segment).coerceString(),
    );
    return parts.join("");
  }

  /**
   * The value of a text that is one expression, and else the text with its expressions replaced.
   *
   * @throws WorkflowError
   */
  readValue(text: string): unknown {
    const segments = splitTemplate(text.trim());
    const [only] = segments;
    if (segments.length !== 1 || only?.kind !== "expression") return this.readText(text);
    return this.expressions.toPlain(this.evaluate(only));
  }

  private evaluate(segment: Segment & { kind: "expression" }): data.ExpressionData {
    return this.expressions.evaluate(segment, this.values, this.budget);
  }
}

/**
 * Replaces the expressions of a text. A name that only a runner knows is empty.
 *
 * @throws WorkflowError
 */
export async function evaluate(text: string, contexts: Contexts): Promise<string> {
  if (!text.includes("${{")) return text;
  return (await openExpressions()).open(contexts, true).readText(text);
}

/** A class that counts what expressions make. */
function boundedEvaluator(library: typeof import("@actions/expressions"), budget: StepBudget) {
  return class extends library.Evaluator {
    protected override eval(tree: Expr): data.ExpressionData {
      const value = super.eval(tree);
      consume(budget, sizeOf(value));
      return value;
    }
  };

  function sizeOf(value: data.ExpressionData): number {
    const { data: kinds } = library;
    if (value instanceof kinds.StringData) return 1 + value.value.length;
    const isList = value instanceof kinds.Array || value instanceof kinds.Dictionary;
    return 1 + (isList ? value.values().length : 0);
  }
}

/** @throws WorkflowError if nothing is left. */
function consume(budget: StepBudget, steps: number): void {
  budget.consume(steps);
  if (budget.isExhausted) throw new WorkflowError("The expressions of the file take too much work");
}

/** @throws WorkflowError if an expression has no end. */
function splitTemplate(text: string): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf("${{", at);
    if (start < 0) break;
    const end = findEnd(text, start + 3);
    if (end === undefined) throw new WorkflowError("The expression has no '}}'", start);
    if (start > at) segments.push({ kind: "text", text: text.slice(at, start) });
    segments.push({ kind: "expression", text: text.slice(start + 3, end), offset: start + 3 });
    at = end + 2;
  }
  if (at < text.length) segments.push({ kind: "text", text: text.slice(at) });
  return segments;
}

/** The first `}}` outside of quotes. */
function findEnd(text: string, from: number): number | undefined {
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") isQuoted = !isQuoted;
    else if (!isQuoted && text[at] === "}" && text[at + 1] === "}") return at;
  }
  return undefined;
}

/** An `if` needs no `${{ }}`. */
function readCondition(text: string): Segment[] {
  return text.includes("${{") ? splitTemplate(text) : [{ kind: "expression", text, offset: 0 }];
}

function toFunction(name: string): FunctionInfo {
  return { name, minArgs: 0, maxArgs: Number.MAX_SAFE_INTEGER };
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new WorkflowError(`fromJSON gets no JSON: '${shorten(text)}'`);
  }
}

/** Calls the library, whose errors are of several kinds. */
function atOffset<T>(offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof WorkflowError) throw new WorkflowError(error.message, offset);
    if (error instanceof RangeError) throw new WorkflowError("The expression is too deep", offset);
    if (!(error instanceof Error)) throw error;
    const [message = ""] = error.message.split(" within expression: ");
    throw new WorkflowError(shorten(message), offset);
  }
}

function shorten(text: string): string {
  return text.length > MESSAGE_MAX ? `${text.slice(0, MESSAGE_MAX)}…` : text;
}
