import { type Budget, UNLIMITED } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { overLimit } from "../error.ts";
import { matchGlob } from "../glob/match-glob.ts";
import {
  type Assignment,
  type AttributeRule,
  type AttributeValue,
  parseAttributeRules,
  type PathPattern,
} from "./parse-rules.ts";

/** Attributes of one path by name. Missing attributes are unspecified. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

type Macros = ReadonlyMap<string, readonly Assignment[]>;

const BINARY: readonly Assignment[] = ["diff", "merge", "text"].map((name) => ({
  name: name as ByteText,
  value: false,
}));

/** Steps to try a rule that does not match at its ends. */
const STEPS_PER_RULE = 3;

/** The attribute rules of a directory and its parent directories. */
export class AttributeStack {
  private readonly rules: readonly AttributeRule[];
  /** Path of the directory; "" for the root. */
  private readonly directory: string;
  /** This stack and those of the parent directories, innermost first. */
  private readonly upwards: readonly AttributeStack[];
  private readonly macros: Macros;
  private readonly names: ReadonlySet<string>;

  private constructor(
    rules: readonly AttributeRule[],
    directory: string,
    above: AttributeStack | undefined,
    macros: Macros,
    names: ReadonlySet<string>,
  ) {
    this.rules = rules.filter(({ assignments }) =>
      assignments.some(({ name }) => names.has(name) || macros.has(name)),
    );
    this.directory = directory;
    this.upwards = [this, ...(above?.upwards ?? [])];
    this.macros = macros;
    this.names = names;
  }

  /**
   * Parses the rules of the root directory.
   *
   * @param text  Content of its `.gitattributes`; "" if there is none.
   * @param names Attributes to look up. Rules for other attributes are dropped.
   */
  static root(text: ByteText, names: Iterable<string>): AttributeStack {
    const macros = new Map([["binary", BINARY]]);
    const rules = parseAttributeRules(text, (name, assignments) => macros.set(name, assignments));
    return new AttributeStack(rules, "", undefined, macros, new Set(names));
  }

  /** Parses the rules of a subdirectory. `directory` has no trailing slash. */
  enter(directory: ByteText, text: ByteText): AttributeStack {
    const rules = parseAttributeRules(text);
    return new AttributeStack(rules, directory, this, this.macros, this.names);
  }

  /**
   * Returns the attributes of a path in this directory.
   *
   * Cost: up to the length of all rules times the length of the path.
   *
   * @param path Path from the root; for a directory, with a trailing slash.
   * @throws GitError `limit` once the budget is exhausted.
   */
  find(path: ByteText, budget: Budget = UNLIMITED): Attributes {
    const isDirectory = path.endsWith("/");
    const bare = isDirectory ? path.slice(0, -1) : path;
    const name = bare.slice(bare.lastIndexOf("/") + 1);
    const found = new Map<string, AttributeValue>();
    for (const { directory, rules } of this.upwards) {
      budget.consume(STEPS_PER_RULE * rules.length);
      const relative = directory === "" ? bare : bare.slice(directory.length + 1);
      // The last matching rule wins.
      for (let at = rules.length - 1; at >= 0; at--) {
        const { pattern, assignments } = rules[at] as AttributeRule;
        if (pattern.isForDirectory && !isDirectory) continue;
        const text = (pattern.isForName ? name : relative) as ByteText;
        if (matchesPath(pattern, text, budget)) this.assign(found, assignments);
        if (budget.isExhausted) throw overLimit("the rules of .gitattributes take too much work");
      }
    }
    return found;
  }

  /** Adds the assignments of attributes that have no value yet, and expands macros that are set. */
  private assign(found: Map<string, AttributeValue>, assignments: readonly Assignment[]): void {
    for (const { name, value } of assignments.toReversed()) {
      if (found.has(name)) continue;
      found.set(name, value);
      const macro = value === true ? this.macros.get(name) : undefined;
      if (macro) this.assign(found, macro);
    }
  }
}

function matchesPath({ literal, glob }: PathPattern, text: ByteText, budget: Budget): boolean {
  if (!glob) return text === literal;
  return text.startsWith(literal) && matchGlob(glob, text.slice(literal.length), budget);
}
