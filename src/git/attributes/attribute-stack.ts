import type { ByteText } from "../byte-text.ts";
import { matchGlob } from "../glob/match-glob.ts";
import {
  type Assignment,
  type AttributeRule,
  type AttributeValue,
  parseAttributeRules,
  type PathPattern,
} from "./parse-rules.ts";

/** Attributes of one path by name; of one that is not there, nothing is said. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

type Macros = ReadonlyMap<string, readonly Assignment[]>;

const BINARY: readonly Assignment[] = ["diff", "merge", "text"].map((name) => ({
  name: name as ByteText,
  value: false,
}));

/** The rules of a directory, and those of the directories above it. */
export class AttributeStack {
  private readonly rules: readonly AttributeRule[];
  /** Path of the directory, "" for the root. */
  private readonly directory: string;
  /** This one and those above, from here up. */
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
   * The rules of the root.
   *
   * @param text  Of its `.gitattributes`, "" if there is none.
   * @param names Attributes that are asked for.
   */
  static root(text: ByteText, names: Iterable<string>): AttributeStack {
    const macros = new Map([["binary", BINARY]]);
    const rules = parseAttributeRules(text, (name, assignments) => macros.set(name, assignments));
    return new AttributeStack(rules, "", undefined, macros, new Set(names));
  }

  /** The rules of a directory below, whose path has no slash at its end. */
  enter(directory: ByteText, text: ByteText): AttributeStack {
    const rules = parseAttributeRules(text);
    return new AttributeStack(rules, directory, this, this.macros, this.names);
  }

  /**
   * What is said of a path of this directory.
   *
   * @param path From the root; of a directory with a slash at its end.
   */
  find(path: ByteText): Attributes {
    const isDirectory = path.endsWith("/");
    const bare = isDirectory ? path.slice(0, -1) : path;
    const name = bare.slice(bare.lastIndexOf("/") + 1);
    const found = new Map<string, AttributeValue>();
    for (const { directory, rules } of this.upwards) {
      const relative = directory === "" ? bare : bare.slice(directory.length + 1);
      // Of several that fit, the last holds.
      for (let at = rules.length - 1; at >= 0; at--) {
        const { pattern, assignments } = rules[at] as AttributeRule;
        if (pattern.isForDirectory && !isDirectory) continue;
        const text = (pattern.isForName ? name : relative) as ByteText;
        if (fits(pattern, text)) this.assign(found, assignments);
      }
    }
    return found;
  }

  /** Takes what was not said before, and where a macro is set, what that stands for. */
  private assign(found: Map<string, AttributeValue>, assignments: readonly Assignment[]): void {
    for (const { name, value } of assignments.toReversed()) {
      if (found.has(name)) continue;
      found.set(name, value);
      const macro = value === true ? this.macros.get(name) : undefined;
      if (macro) this.assign(found, macro);
    }
  }
}

function fits({ literal, glob }: PathPattern, text: ByteText): boolean {
  if (!glob) return text === literal;
  return text.startsWith(literal) && matchGlob(glob, text.slice(literal.length));
}
