import { type ByteText, readByteText } from "../../git/byte-text.ts";
import { type Attributes, AttributeStack } from "../../git/attributes/attribute-stack.ts";
import { TREE } from "../../git/object/kind.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  parseTree,
  type TreeEntry,
} from "../../git/object/tree.ts";
import type { ObjectLocation } from "../../git/catalog/pack-catalog.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { type Language, type LanguageTable, loadLanguages } from "./language-table.ts";

/** Entries of trees that are looked at; what is beyond is not counted. */
const ENTRIES_MAX = 250_000;
/**
 * SECURITY: patterns are tried on each path, and cost the square of its length at worst: the longest
 * path that is counted, and all that are looked at together, in bytes.
 */
const PATH_BYTES_MAX = 320;
const PATHS_BYTES_MAX = 16 * 1024 * 1024;
/** Trees nested deeper are not counted. */
const DEPTH_MAX = 128;
/** Files whose content is read, where their names leave several languages open. */
const READS_MAX = 64;
/** Of them, programs without an extension. */
const SCRIPTS_MAX = 24;
/** Largest file that is read to tell its language, in bytes, and what of it is looked at. */
const READ_BYTES_MAX = 256 * 1024;
const HEAD_BYTES = 4 * 1024;
/** Largest `.gitattributes` that is read, in bytes, and how many of them. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;
const ATTRIBUTES_MAX = 100;
/** SECURITY: what matching rules may cost: bytes of rules times bytes of paths, for all files. */
const MATCHING_MAX = 2 ** 29;

const NAMES = [
  "linguist-vendored",
  "linguist-generated",
  "linguist-documentation",
  "linguist-detectable",
  "linguist-language",
];

/**
 * Bytes of each language in a tree, the most first, as linguist counts them: programming and markup,
 * without what is vendored, generated or documentation by its path, all unless `.gitattributes` says
 * otherwise.
 *
 * Where an extension is that of several languages, the largest of its files are read; what most of
 * them are holds for the others.
 *
 * Cost: each tree once, and `READS_MAX` files.
 */
export async function countLanguages(
  repository: OpenRepository,
  root: ObjectLocation,
): Promise<[language: string, bytes: number][]> {
  const counter = new LanguageCounter(repository, await loadLanguages());
  await counter.walk(root);
  await counter.settle();
  return [...counter.bytes]
    .filter(([, bytes]) => bytes > 0)
    .toSorted(([a, more], [b, less]) => less - more || (a < b ? -1 : 1));
}

/** A directory that is to be looked into. */
interface Directory {
  readonly location: ObjectLocation;
  /** With a slash at its end; "" for the root. */
  readonly path: string;
  readonly depth: number;
  readonly rules: Rules | undefined;
}

/** What attributes say of languages in a directory, and how long that is, in bytes. */
interface Rules {
  readonly stack: AttributeStack;
  readonly bytes: number;
}

/** A file whose name leaves open what it is. */
interface OpenFile {
  readonly location: ObjectLocation;
  readonly sizeBytes: number;
  readonly isDetectable: boolean | undefined;
}

/** Files of one extension of several languages. */
interface OpenExtension {
  readonly languages: readonly Language[];
  readonly files: OpenFile[];
  sizeBytes: number;
}

class LanguageCounter {
  readonly bytes = new Map<string, number>();
  private readonly repository: OpenRepository;
  private readonly table: LanguageTable;
  private readonly extensions = new Map<string, OpenExtension>();
  private readonly scripts: OpenFile[] = [];
  private entriesLeft = ENTRIES_MAX;
  private pathBytesLeft = PATHS_BYTES_MAX;
  private attributesLeft = ATTRIBUTES_MAX;
  private matchingLeft = MATCHING_MAX;

  constructor(repository: OpenRepository, table: LanguageTable) {
    this.repository = repository;
    this.table = table;
  }

  async walk(root: ObjectLocation): Promise<void> {
    const stack: Directory[] = [{ location: root, path: "", depth: 0, rules: undefined }];
    for (let at = stack.pop(); at; at = stack.pop()) {
      for (const below of await this.visit(at)) stack.push(below);
    }
  }

  /** Looks at the files of a directory, and answers with the directories that are to be looked at. */
  private async visit(directory: Directory): Promise<Directory[]> {
    const { catalog, objects } = this.repository;
    if (catalog.kind(directory.location) !== TREE) return [];
    const entries = parseTree(await objects.readAt(directory.location));
    const rules = await this.enter(directory, entries);
    const depth = directory.depth + 1;
    const below: Directory[] = [];
    for (const { mode, name, oid } of entries) {
      const path = directory.path + name;
      this.pathBytesLeft -= path.length;
      if (this.entriesLeft-- <= 0 || this.pathBytesLeft < 0) break;
      const isLeftOut = isSubmoduleMode(mode) || isSymlinkMode(mode);
      const location = isLeftOut || path.length > PATH_BYTES_MAX ? undefined : catalog.find(oid);
      if (!location) continue;
      if (!isTreeMode(mode)) {
        this.addFile(location, mode, path, name, this.findAttributes(rules, path));
      } else if (depth <= DEPTH_MAX && (rules || !this.isPassedOver(`${path}/`))) {
        below.push({ location, path: `${path}/`, depth, rules });
      }
    }
    return below;
  }

  private findAttributes(rules: Rules | undefined, path: string): Attributes | undefined {
    if (!rules) return undefined;
    this.matchingLeft -= rules.bytes * path.length;
    return this.matchingLeft > 0 ? rules.stack.find(path as ByteText) : undefined;
  }

  /** The rules of a directory; undefined while none says anything of languages. */
  private async enter(
    { path, rules }: Directory,
    entries: readonly TreeEntry[],
  ): Promise<Rules | undefined> {
    const { catalog, objects } = this.repository;
    const file = entries.find(({ name, mode }) => name === ".gitattributes" && !isTreeMode(mode));
    const location = file && !isSymlinkMode(file.mode) ? catalog.find(file.oid) : undefined;
    const isRead = location && catalog.sizeBytes(location) <= ATTRIBUTES_BYTES_MAX;
    if (!isRead || this.attributesLeft-- <= 0) return rules;
    const text = readByteText(await objects.readAt(location));
    const bytes = (rules?.bytes ?? 0) + countBytes(text);
    if (!text.includes("linguist-")) return rules;
    if (path === "") return { stack: AttributeStack.root(text, NAMES), bytes };
    const above = rules?.stack ?? AttributeStack.root("" as ByteText, NAMES);
    return { stack: above.enter(path.slice(0, -1) as ByteText, text), bytes };
  }

  /** Whether nothing at a path is counted; below a directory that is, nothing is. */
  private isPassedOver(path: string): boolean {
    const { vendored, generated, documentation } = this.table;
    return vendored.test(path) || generated.test(path) || documentation.test(path);
  }

  private addFile(
    location: ObjectLocation,
    mode: number,
    path: string,
    name: string,
    attributes: Attributes | undefined,
  ): void {
    const { table } = this;
    const isSaid = (what: string) => attributes && flagOf(attributes, `linguist-${what}`);
    if (isSaid("vendored") ?? table.vendored.test(path)) return;
    if (isSaid("generated") ?? table.generated.test(path)) return;
    if (isSaid("documentation") ?? table.documentation.test(path)) return;
    const isDetectable = isSaid("detectable");
    if (isDetectable === false) return;
    const sizeBytes = this.repository.catalog.sizeBytes(location);
    const file: OpenFile = { location, sizeBytes, isDetectable };
    const given = attributes && textOf(attributes, "linguist-language");
    const language = given === undefined ? undefined : table.find(given);
    if (language) {
      this.count(language, file);
      return;
    }
    const found = table.findByName(name);
    const [first, ...others] = found?.languages ?? [];
    if (!found || !first) {
      if (mode === MODE_EXECUTABLE && !name.includes(".")) this.scripts.push(file);
    } else if (others.length === 0) {
      this.count(first, file);
    } else if (isDetectable || found.languages.some(({ isCounted }) => isCounted)) {
      const { files, ...extension } = this.extensions.get(found.by) ?? {
        languages: found.languages,
        files: [],
        sizeBytes: 0,
      };
      files.push(file);
      const bytes = extension.sizeBytes + sizeBytes;
      this.extensions.set(found.by, { ...extension, files, sizeBytes: bytes });
    }
  }

  /** Counts the files whose names left open what they are. */
  async settle(): Promise<void> {
    const { table } = this;
    let readsLeft = READS_MAX;
    readsLeft -= await this.vote(this.scripts, SCRIPTS_MAX, undefined, (content) => {
      const program = findInterpreter(content);
      return program === undefined ? undefined : table.findByInterpreter(program);
    });
    const extensions = [...this.extensions].toSorted(([, a], [, b]) => b.sizeBytes - a.sizeBytes);
    for (const [at, [extension, { languages, files }]] of extensions.entries()) {
      const share = Math.ceil(readsLeft / (extensions.length - at));
      const usual = table.findUsual(extension, languages);
      readsLeft -= await this.vote(files, share, usual, (content) =>
        table.findByContent(extension, languages, content),
      );
    }
  }

  /**
   * Counts files of which the largest are read; as what most of them are, the others are counted.
   *
   * @param usual What they are where none that was read tells.
   * @returns How many were read.
   */
  private async vote(
    files: readonly OpenFile[],
    readsMax: number,
    usual: Language | undefined,
    judge: (content: string) => Language | undefined,
  ): Promise<number> {
    const readable = files.filter(({ sizeBytes }) => sizeBytes <= READ_BYTES_MAX);
    const read = readable.toSorted((a, b) => b.sizeBytes - a.sizeBytes).slice(0, readsMax);
    const votes = new Map<Language | undefined, number>();
    const told = new Map<OpenFile, Language>();
    for (const file of read) {
      const language = judge(await this.readHead(file));
      votes.set(language, (votes.get(language) ?? 0) + 1);
      if (language) told.set(file, language);
    }
    const [[most] = []] = [...votes].toSorted(([, a], [, b]) => b - a);
    for (const file of files) {
      const language = told.get(file) ?? most ?? usual;
      if (language) this.count(language, file);
    }
    return read.length;
  }

  private async readHead({ location, sizeBytes }: OpenFile): Promise<string> {
    const { catalog, objects } = this.repository;
    if (sizeBytes > READ_BYTES_MAX || objects.findLarge(catalog.oid(location))) return "";
    const content = await objects.readAt(location);
    return shorten(readByteText(content.subarray(0, HEAD_BYTES)));
  }

  private count({ isCounted, group }: Language, { sizeBytes, isDetectable }: OpenFile): void {
    if (!(isDetectable ?? isCounted)) return;
    this.bytes.set(group, (this.bytes.get(group) ?? 0) + sizeBytes);
  }
}

/** Bytes of the lines of a `.gitattributes` that say something of languages, also by a macro. */
function countBytes(text: string): number {
  const macros = Array.from(text.matchAll(/^\[attr\](\S+)/gm), ([, name = ""]) => name);
  const words = ["linguist-", ...macros.slice(0, MACROS_MAX)];
  const lines = text.split("\n").filter((line) => words.some((word) => line.includes(word)));
  return macros.length > MACROS_MAX ? text.length : lines.join("").length;
}

const MACROS_MAX = 10;

/**
 * SECURITY: many patterns begin with any number of blanks or letters, and would be tried anew at each
 * of them.
 */
const shorten = (text: string): string =>
  text.replaceAll(/(\s)\s{32,}/g, "$1\n").replaceAll(/(\S{100})\S+/g, "$1");

/** What an attribute says; undefined where nothing does. */
function flagOf(attributes: Attributes, name: string): boolean | undefined {
  const value = attributes.get(name);
  if (value === undefined || value === "unspecified") return undefined;
  return typeof value === "boolean" ? value : value.text !== "false";
}

function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return typeof value === "object" ? value.text : undefined;
}

/** The program that the first line of a script names, undefined for what is no script. */
function findInterpreter(content: string): string | undefined {
  const [, line = ""] = /^#!([^\r\n]*)/.exec(content) ?? [];
  const words = line.split(/\s+/).filter((word) => word !== "");
  const nameOf = (word = "") => word.slice(word.lastIndexOf("/") + 1);
  const [first, ...rest] = words;
  const name = nameOf(first);
  // A shell that hands the script to another program at once.
  const [, handed] = /^(?:[^\n]*\n){1,5}?exec (\w+)[^\n]+\$0[^\n]+\$@/.exec(content) ?? [];
  if (name === "sh" && handed !== undefined) return handed;
  if (name !== "env") return name === "" ? undefined : name;
  // Options of env, and what it sets, stand before the program.
  const program = rest.find((word) => !word.startsWith("-") && !word.includes("="));
  return program === undefined ? undefined : nameOf(program);
}
