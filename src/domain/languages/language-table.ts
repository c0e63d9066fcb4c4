/** A language as linguist's tables have it. */
export interface Language {
  readonly name: string;
  /** Whether statistics count it unless attributes say otherwise. */
  readonly isCounted: boolean;
  /** The language as which it is counted. */
  readonly group: string;
}

/** What a content must hold, or must not. */
interface Condition {
  readonly any?: readonly RegExp[];
  readonly none?: readonly RegExp[];
}

/** Of which languages a content is that meets all conditions. */
interface Rule {
  readonly languages: readonly string[];
  readonly conditions: readonly Condition[];
}

/** The tables as the build lays them out. */
interface LaidOut {
  languages: readonly (readonly [
    name: string,
    type: string,
    group: string,
    extensions: readonly string[],
    filenames: readonly string[],
    interpreters: readonly string[],
    aliases: readonly string[],
  ])[];
  disambiguations: readonly LaidOutRules[];
  vendored: string;
  generated: string;
  documentation: string;
}
interface LaidOutRules {
  extensions: readonly string[];
  rules: readonly {
    languages: readonly string[];
    conditions: readonly {
      any?: readonly (readonly [source: string, flags: string])[];
      none?: readonly (readonly [source: string, flags: string])[];
    }[];
  }[];
}

let loaded: LanguageTable | undefined;

/** The tables, which are loaded on first use. */
export async function loadLanguages(): Promise<LanguageTable> {
  if (!loaded) {
    const { default: data } = await import("../../../dist/languages/languages.json");
    loaded = new LanguageTable(data as unknown as LaidOut);
  }
  return loaded;
}

/** Languages by what a file is called and what stands in it, as linguist tells them. */
export class LanguageTable {
  /** Paths of what is not the repository's own, was made by a program, or tells about it. */
  readonly vendored: RegExp;
  readonly generated: RegExp;
  readonly documentation: RegExp;
  private readonly byName = new Map<string, Language>();
  private readonly byAlias = new Map<string, Language>();
  private readonly byFilename = new Map<string, Language[]>();
  private readonly byExtension = new Map<string, Language[]>();
  private readonly byInterpreter = new Map<string, Language>();
  /** The first extension of each language. */
  private readonly primary = new Map<Language, string>();
  private readonly laidOutRules = new Map<string, LaidOutRules>();
  private readonly rules = new Map<string, readonly Rule[]>();

  constructor(data: LaidOut) {
    this.vendored = new RegExp(data.vendored);
    this.generated = new RegExp(data.generated);
    this.documentation = new RegExp(data.documentation);
    for (const row of data.languages) this.addLanguage(row);
    for (const rules of data.disambiguations) {
      for (const extension of rules.extensions) this.laidOutRules.set(extension, rules);
    }
  }

  /** A language as an attribute names it. */
  find(name: string): Language | undefined {
    return this.byName.get(name) ?? this.byAlias.get(name.toLowerCase());
  }

  /** The language that an interpreter reads, by the name of its program. */
  findByInterpreter(program: string): Language | undefined {
    return (
      this.byInterpreter.get(program) ?? this.byInterpreter.get(program.replace(/[\d.]+$/, ""))
    );
  }

  /**
   * The languages that a file may be of by its name, and by what of the name that is told: the whole
   * of it, or an extension.
   */
  findByName(filename: string): { by: string; languages: readonly Language[] } | undefined {
    const named = this.byFilename.get(filename);
    if (named) return { by: filename, languages: named };
    const lower = filename.toLowerCase();
    for (let at = lower.indexOf("."); at >= 0; at = lower.indexOf(".", at + 1)) {
      const extension = lower.slice(at);
      const languages = this.byExtension.get(extension);
      if (languages) return { by: extension, languages };
    }
    return undefined;
  }

  /** Of languages that share an extension, the one that it is first of all. */
  findUsual(extension: string, languages: readonly Language[]): Language | undefined {
    // Sections of manuals, and of much else.
    if (/^\.\d$/.test(extension)) return undefined;
    const names = this.rulesOf(extension).flatMap((rule) => rule.languages);
    const ruled = names.flatMap((name) => languages.find((each) => each.name === name) ?? []);
    const ordered = [...ruled, ...languages];
    return ordered.find((each) => this.primary.get(each) === extension) ?? ordered[0];
  }

  /**
   * The language of a content, of those that share its extension.
   *
   * @param content Its beginning. A char for each byte will do.
   */
  findByContent(
    extension: string,
    languages: readonly Language[],
    content: string,
  ): Language | undefined {
    const rule = this.rulesOf(extension).find(({ conditions }) =>
      conditions.every(
        ({ any, none }) =>
          (any === undefined || any.some((pattern) => pattern.test(content))) &&
          (none === undefined || !none.some((pattern) => pattern.test(content))),
      ),
    );
    return rule && languages.find(({ name }) => rule.languages.includes(name));
  }

  private rulesOf(extension: string): readonly Rule[] {
    const known = this.rules.get(extension);
    if (known) return known;
    const toPatterns = (list: readonly (readonly [string, string])[]) =>
      list.map(([source, flags]) => new RegExp(source, flags));
    const rules = (this.laidOutRules.get(extension)?.rules ?? []).map(
      ({ languages, conditions }) => ({
        languages,
        conditions: conditions.map(({ any, none }) => ({
          ...(any && { any: toPatterns(any) }),
          ...(none && { none: toPatterns(none) }),
        })),
      }),
    );
    this.rules.set(extension, rules);
    return rules;
  }

  private addLanguage([
    name,
    type,
    group,
    extensions,
    filenames,
    interpreters,
    aliases,
  ]: LaidOut["languages"][number]): void {
    const isCounted = type === "programming" || type === "markup";
    const language = { name, isCounted, group: group || name };
    this.byName.set(name, language);
    for (const alias of [name, name.replaceAll(/\s/g, "-"), ...aliases]) {
      this.byAlias.set(alias.toLowerCase(), language);
    }
    for (const extension of extensions) add(this.byExtension, extension.toLowerCase(), language);
    for (const filename of filenames) add(this.byFilename, filename, language);
    for (const program of interpreters) {
      if (!this.byInterpreter.has(program)) this.byInterpreter.set(program, language);
    }
    this.primary.set(language, extensions[0] ?? "");
  }
}

function add(map: Map<string, Language[]>, key: string, language: Language): void {
  const list = map.get(key);
  if (list) list.push(language);
  else map.set(key, [language]);
}
