import { loadLanguages } from "../../../domain/code/languages/language-table.ts";

/** Names that highlight.js has for languages of linguist where they differ. */
const GRAMMARS: Readonly<Record<string, string>> = {
  Shell: "bash",
  "Objective-C": "objectivec",
  "Objective-C++": "objectivec",
  "Vim Script": "vim",
  "JSON with Comments": "json",
  "Jupyter Notebook": "json",
  TSX: "typescript",
  SVG: "xml",
  Vue: "xml",
  Svelte: "xml",
  "Git Config": "ini",
  "Protocol Buffer": "protobuf",
  "Java Properties": "properties",
  // By its name alone, each file `.txt` is one.
  "Vim Help File": "text",
};

/** Names of the grammar without rules. */
const PLAIN: ReadonlySet<string> = new Set(["", "text", "txt"]);

/** The language of a file by its name alone, as linguist calls it; undefined if none is known. */
export async function languageOf(filename: string): Promise<string | undefined> {
  const table = await loadLanguages();
  const found = table.findByName(filename);
  return (found && (table.findUsual(found.by, found.languages) ?? found.languages[0]))?.name;
}

/** The names by which a highlighter may know the language of a file, by preference. */
export async function grammarsOf(filename: string): Promise<string[]> {
  const language = await languageOf(filename);
  const names = language === undefined ? [] : [GRAMMARS[language] ?? language.toLowerCase()];
  const extension = filename.includes(".") ? filename.slice(filename.lastIndexOf(".") + 1) : "";
  return [
    ...names,
    ...names.map((name) => name.replaceAll(" ", "-")),
    extension.toLowerCase(),
  ].filter((name) => !PLAIN.has(name));
}
