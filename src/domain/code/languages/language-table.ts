/** A language of linguist's tables. */
export interface Language {
  readonly name: string;
  /** Whether statistics count the language by default. */
  readonly isCounted: boolean;
  /** The name of the language that it is counted as. */
  readonly group: string;
}

/** Patterns of which a content must match at least one (`any`), or must match none (`none`). */
interface Condition {
  readonly any?: readonly RegExp[];
  readonly none?: readonly RegExp[];
}

/** The languages of a content that meets all conditions. */
interface Rule {
  readonly languages: readonly string[];
  readonly conditions: readonly Condition[];
}

/** The tables in the JSON format that the build writes. */
interface TableData {
  languages: readonly (readonly [
    name: string,
    type: string,
    group: string,
    extensions: readonly string[],
    filenames: readonly string[],
    interpreters: readonly string[],
    aliases: readonly string[],
  ])[];
  disambiguations: readonly RulesData[];
  vendored: string;
  generated: string;
  documentation: string;
}
interface RulesData {
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

/** Returns the tables, loading them on first use. */
export async function loadLanguages(): Promise<LanguageTable> {
  if (!loaded) {
    const { default: data } = await import("../../../../dist/languages/languages.json");
    loaded = new LanguageTable(data as unknown as TableData);
  }
  return loaded;
}

/** Detects languages by file name and content, as linguist does. */
export class LanguageTable {
  /** Match vendored, generated and documentation paths. */
  readonly vendored: RegExp;
  readonly generated: RegExp;
  readonly documentation: RegExp;
  private readonly byName = new Map<string, Language>();
  private readonly byAlias = new Map<string, Language>();
  private readonly byFilename = new Map<string, Language[]>();
  private readonly byExtension = new Map<string, Language[]>();
  private readonly byInterpreter = new Map<string, Language>();
  /** The primary extension of each language. */
  private readonly primary = new Map<Language, string>();
  private readonly rulesData = new Map<string, RulesData>();
  private readonly rules = new Map<string, readonly Rule[]>();

  constructor(data: TableData) {
    this.vendored = new RegExp(data.vendored);
    this.generated = new RegExp(data.generated);
    this.documentation = new RegExp(data.documentation);
    for (const row of data.languages) this.addLanguage(row);
    for (const rules of data.disambiguations) {
      for (const extension of rules.extensions) this.rulesData.set(extension, rules);
    }
  }

  /** Finds a language by the name or alias used in an attribute. */
  find(name: string): Language | undefined {
    return this.byName.get(name) ?? this.byAlias.get(name.toLowerCase());
  }

  /** Finds a language by its interpreter, ignoring a version suffix. */
  findByInterpreter(program: string): Language | undefined {
    return (
      this.byInterpreter.get(program) ?? this.byInterpreter.get(program.replace(/[\d.]+$/, ""))
    );
  }

  /**
   * Finds the possible languages of a file by its name. `by` is the part of the name that matched:
   * the full name, or an extension.
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

  /** Finds the usual language among several that share an extension. */
  findUsual(extension: string, languages: readonly Language[]): Language | undefined {
    // Manual page sections, but these extensions have many other uses.
    if (/^\.\d$/.test(extension)) return undefined;
    const names = this.findRules(extension).flatMap((rule) => rule.languages);
    const ruled = names.flatMap((name) => languages.find((each) => each.name === name) ?? []);
    const ordered = [...ruled, ...languages];
    return ordered.find((each) => this.primary.get(each) === extension) ?? ordered[0];
  }

  /**
   * Detects the language of a content among several that share its extension.
   *
   * @param content The beginning of the content. One character per byte is sufficient.
   */
  findByContent(
    extension: string,
    languages: readonly Language[],
    content: string,
  ): Language | undefined {
    const rule = this.findRules(extension).find(({ conditions }) =>
      conditions.every(
        ({ any, none }) =>
          (any === undefined || any.some((pattern) => pattern.test(content))) &&
          (none === undefined || !none.some((pattern) => pattern.test(content))),
      ),
    );
    return rule && languages.find(({ name }) => rule.languages.includes(name));
  }

  private findRules(extension: string): readonly Rule[] {
    const known = this.rules.get(extension);
    if (known) return known;
    const toPatterns = (list: readonly (readonly [string, string])[]) =>
      list.map(([source, flags]) => new RegExp(source, flags));
    const rules = (this.rulesData.get(extension)?.rules ?? []).map(({ languages, conditions }) => ({
      languages,
      conditions: conditions.map(({ any, none }) => ({
        ...(any && { any: toPatterns(any) }),
        ...(none && { none: toPatterns(none) }),
      })),
    }));
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
  ]: TableData["languages"][number]): void {
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
