import type { data, Expr } from "@actions/expressions";
import type * as expressionLibrary from "@actions/expressions";
import type { FunctionInfo } from "@actions/expressions/funcs/info";

import { StepBudget } from "../../../lib/step-budget.ts";
import { splitCondition, splitTemplate, type TemplateExpression } from "./template.ts";
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

type ExpressionLibrary = typeof expressionLibrary;

/** Names that runners know, and the service does not always. */
const OF_RUNNERS = [
  "env",
  "secrets",
  "needs",
  "matrix",
  "strategy",
  "steps",
  "job",
  "jobs",
  "runner",
];
/** Characters and values that the expressions of one workflow may make. */
const STEPS_MAX = 4_000_000;
/** Maximum characters of an expression, as the library has it. */
const LENGTH_MAX = 21_000;
/** Messages quote expressions up to this length. */
const MESSAGE_MAX = 200;

/** Loads the library, which is large. */
export async function openExpressions(): Promise<Expressions> {
  return new Expressions(await import("@actions/expressions"));
}

/** Reads expressions. */
export class Expressions {
  private readonly library: ExpressionLibrary;

  constructor(library: ExpressionLibrary) {
    this.library = library;
  }

  /** Opens the values that expressions can name. */
  open({ github, ...contexts }: Contexts): ExpressionScope {
    const values = { inputs: {}, vars: {}, github, gitea: github, ...contexts };
    return new ExpressionScope(this, this.add(new Map(), values), new StepBudget(STEPS_MAX));
  }

  /**
   * Checks how the expressions of a text are written, not what they name.
   *
   * @throws WorkflowError
   */
  check(text: string, isCondition: boolean): void {
    for (const segment of isCondition ? splitCondition(text) : splitTemplate(text)) {
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
  private findNames(segment: TemplateExpression, context: string): number[] {
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
    segment: TemplateExpression,
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

  private lex({ text, offset }: TemplateExpression) {
    if (text.length > LENGTH_MAX) {
      throw new WorkflowError(`An expression has at most ${LENGTH_MAX} characters`, offset);
    }
    const { tokens } = atOffset(offset, () => new this.library.Lexer(text).lex());
    // The library takes only the first doubled quote of a text for one.
    for (const [index, token] of tokens.entries()) {
      const { lexeme } = token;
      // Nor does it ask whether a function is one of its own.
      if (lexeme.toLowerCase() in {} && tokens[index + 1]?.lexeme === "(") {
        throw new WorkflowError(`Unrecognized function: '${lexeme}'`, offset);
      }
      if (lexeme.startsWith("'")) token.value = lexeme.slice(1, -1).replaceAll("''", "'");
    }
    return tokens;
  }

  /** @throws WorkflowError */
  evaluate(
    segment: TemplateExpression,
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

  /** Adds values to those that expressions can name. */
  add(
    values: ReadonlyMap<string, data.ExpressionData>,
    more: Readonly<Record<string, object>>,
  ): ReadonlyMap<string, data.ExpressionData> {
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
    const values = this.expressions.add(this.values, more);
    return new ExpressionScope(this.expressions, values, this.budget);
  }

  /** The same where names that only a runner knows are empty instead of unknown. */
  lenient(): ExpressionScope {
    const unknown = OF_RUNNERS.filter((name) => !this.values.has(name));
    return this.with(Object.fromEntries(unknown.map((name) => [name, {}])));
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

  private evaluate(segment: TemplateExpression): data.ExpressionData {
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
  return (await openExpressions()).open(contexts).lenient().readText(text);
}

/** A class that counts what expressions make. */
function boundedEvaluator(library: ExpressionLibrary, budget: StepBudget) {
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
