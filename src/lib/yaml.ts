import type { Document, Pair } from "yaml";

import { pause } from "./time-slice.ts";

/** A document as the library composes it, with its errors. */
export type YamlDocument = Document.Parsed;

/**
 * Maximum parts of a text: its documents are composed of them at once, in 25 to 50 ms. A line of a
 * list has five.
 */
const PARTS_MAX = 40_000;
/** Characters of a scalar that take as long as a part; each of its lines takes that, too. */
const CHARS_PER_PART = 50;
/** Steps to read a part, and to compose it. */
const READ_STEPS = 200;
const COMPOSED_STEPS = 80;

/** Thrown for a text that is too long to be read. */
export class YamlTooLong extends Error {
  constructor() {
    super(`the text has more than ${PARTS_MAX} parts`);
    this.name = "YamlTooLong";
  }
}

/**
 * Parses the documents of a YAML text, at least one. Other requests run meanwhile.
 *
 * SECURITY: the library compares each key of a map with all others, so that a small text would
 * take minutes. Keys that are there twice are found here, and are an error as in the library.
 * Aliases are expanded by `toJS`, whose caller bounds them.
 *
 * @throws YamlTooLong
 */
export async function parseYaml(
  text: string,
  schema: "core" | "failsafe",
): Promise<YamlDocument[]> {
  // On first use, since it would be a part of the start-up.
  const { Composer, Lexer, Parser, isScalar, visit, YAMLParseError } = await import("yaml");
  const parser = new Parser();
  const tokens = [];
  let parts = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const more = countParts(lexeme);
    parts += more;
    if (parts > PARTS_MAX) throw new YamlTooLong();
    tokens.push(...parser.next(lexeme));
    const pausing = pause(READ_STEPS * more);
    if (pausing) await pausing;
  }
  tokens.push(...parser.end());
  const options = { schema, uniqueKeys: false, logLevel: "error", prettyErrors: false } as const;
  const documents = [...new Composer(options).compose(tokens, true, text.length)];
  await pause(COMPOSED_STEPS * parts);
  for (const document of documents) {
    visit(document, {
      Map: (_, map) => {
        const twice = findTwice(map.items);
        if (twice) {
          const { range } = twice;
          const at: [number, number] = [range?.[0] ?? 0, range?.[1] ?? 1];
          document.errors.push(new YAMLParseError(at, "DUPLICATE_KEY", "Map keys must be unique"));
        }
      },
    });
  }
  await pause(COMPOSED_STEPS * parts);
  return documents;

  function findTwice(pairs: readonly Pair[]): { range?: readonly number[] | null } | undefined {
    const seen = new Set<unknown>();
    for (const { key } of pairs) {
      if (!isScalar(key) || (key.value === "<<" && schema !== "failsafe")) continue;
      if (seen.has(key.value)) return key;
      seen.add(key.value);
    }
    return undefined;
  }
}

/** A scalar is one lexeme, however long it is. */
function countParts(lexeme: string): number {
  let parts = 1 + Math.floor(lexeme.length / CHARS_PER_PART);
  // The end of a line is a lexeme of its own.
  for (let at = lexeme.indexOf("\n", 2); at >= 0; at = lexeme.indexOf("\n", at + 1)) parts++;
  return parts;
}

/**
 * Parses a YAML text of one document.
 *
 * @param aliasesMax How many aliases are expanded. SECURITY: nested aliases expand a small text
 * exponentially.
 * @throws Error with a message for the author of the text.
 */
export async function readYaml(
  text: string,
  schema: "core" | "failsafe",
  aliasesMax: number,
): Promise<unknown> {
  const [document, ...others] = await parseYaml(text, schema);
  const [error] = document?.errors ?? [];
  if (error) throw error;
  if (others.length > 0) throw new Error("The text has more than one document");
  return document?.toJS({ maxAliasCount: aliasesMax }) as unknown;
}
