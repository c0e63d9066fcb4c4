import { type ByteText, readByteText } from "../../../git/byte-text.ts";
import { type Attributes, AttributeStack } from "../../../git/attributes/attribute-stack.ts";
import { GitError } from "../../../git/error.ts";
import { TREE } from "../../../git/object/kind.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  MODE_EXECUTABLE,
  parseTreeInPieces,
  type TreeEntry,
} from "../../../git/object/tree.ts";
import type { Budget } from "../../../git/budget.ts";
import type { ObjectLocation, PackCatalog } from "../../../git/catalog/pack-catalog.ts";
import type { PackedObjects } from "../../../git/catalog/packed-objects.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { type Language, type LanguageTable, loadLanguages } from "./language-table.ts";

/** Maximum tree entries visited. Further entries are not counted. */
const ENTRIES_MAX = 250_000;
/**
 * SECURITY: bounds pattern matching, whose cost per path is quadratic in its length at worst:
 * maximum bytes of a counted path, and of all visited paths together.
 */
const PATH_BYTES_MAX = 320;
const PATHS_BYTES_MAX = 16 * 1024 * 1024;
/** Maximum nesting of trees. Deeper trees are not counted. */
const DEPTH_MAX = 128;
/** Maximum files read because their name is ambiguous. */
const READS_MAX = 64;
/** Maximum scripts without an extension among them. */
const SCRIPTS_MAX = 24;
/** Maximum size of a file read to detect its language, in bytes, and how much of it is examined. */
const READ_BYTES_MAX = 256 * 1024;
const HEAD_BYTES = 4 * 1024;
/** Maximum size of a `.gitattributes` that is read, in bytes, and maximum number of them. */
const ATTRIBUTES_BYTES_MAX = 64 * 1024;
const ATTRIBUTES_MAX = 100;
/**
 * Steps to match a path with the patterns of what is not counted, and to detect the language of a
 * file's head.
 */
const STEPS_PER_ENTRY = 800;
const STEPS_PER_HEAD = 100_000;

const NAMES = [
  "linguist-vendored",
  "linguist-generated",
  "linguist-documentation",
  "linguist-detectable",
  "linguist-language",
];

/**
 * Counts the bytes of each language in a tree as linguist does, largest first. Counts programming
 * and markup languages, except in vendored, generated or documentation paths. `.gitattributes`
 * overrides all of this.
 *
 * If several languages share an extension, the largest files with it are read, and the most
 * frequent result applies to the others.
 *
 * Cost: reads each tree once, and up to 64 files; files for which the budget does not suffice are
 * not counted.
 */
export async function countLanguages(
  { catalog, objects }: OpenRepository,
  root: ObjectLocation,
  budget: Budget,
): Promise<[language: string, bytes: number][]> {
  const table = await loadLanguages();
  const counter = new LanguageCounter(catalog, objects.within(budget), table, budget);
  await counter.count(root);
  return [...counter.bytes]
    .filter(([, bytes]) => bytes > 0)
    .toSorted(([a, more], [b, less]) => less - more || (a < b ? -1 : 1));
}

/** A directory to visit. */
interface Directory {
  readonly location: ObjectLocation;
  /** With a trailing slash; "" for the root. */
  readonly path: string;
  readonly depth: number;
  /** The linguist attributes that apply in the directory. */
  readonly rules: AttributeStack | undefined;
}

/** A file to count, whose language its name may leave open. */
interface CandidateFile {
  readonly location: ObjectLocation;
  readonly sizeBytes: number;
  readonly isDetectable: boolean | undefined;
}

/** The files with an extension that several languages share. */
interface AmbiguousExtension {
  readonly languages: readonly Language[];
  readonly files: CandidateFile[];
  sizeBytes: number;
}

class LanguageCounter {
  readonly bytes = new Map<string, number>();
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly budget: Budget;
  private readonly table: LanguageTable;
  private readonly extensions = new Map<string, AmbiguousExtension>();
  private readonly scripts: CandidateFile[] = [];
  private entriesLeft = ENTRIES_MAX;
  private pathBytesLeft = PATHS_BYTES_MAX;
  private attributesLeft = ATTRIBUTES_MAX;

  constructor(catalog: PackCatalog, objects: PackedObjects, table: LanguageTable, budget: Budget) {
    this.catalog = catalog;
    this.objects = objects;
    this.budget = budget;
    this.table = table;
  }

  /** Counts the files of a tree. Once the budget is exhausted, no further file is counted. */
  async count(root: ObjectLocation): Promise<void> {
    try {
      await this.walk(root);
      await this.countAmbiguous();
    } catch (error) {
      if (!this.budget.isExhausted || !(error instanceof GitError)) throw error;
    }
  }

  private async walk(root: ObjectLocation): Promise<void> {
    const stack: Directory[] = [{ location: root, path: "", depth: 0, rules: undefined }];
    for (let at = stack.pop(); at && !this.budget.isExhausted; at = stack.pop()) {
      for (const below of await this.visit(at)) stack.push(below);
    }
  }

  /** Adds the files of a directory. Returns the subdirectories to visit. */
  private async visit(directory: Directory): Promise<Directory[]> {
    const { catalog, objects } = this;
    if (catalog.kind(directory.location) !== TREE) return [];
    const entries = await parseTreeInPieces(
      await objects.readAt(directory.location),
      objects.budget,
    );
    const rules = await this.enter(directory, entries);
    const depth = directory.depth + 1;
    const below: Directory[] = [];
    for (const { mode, name, oid } of entries) {
      const path = directory.path + name;
      this.pathBytesLeft -= path.length;
      if (this.entriesLeft-- <= 0 || this.pathBytesLeft < 0 || this.budget.isExhausted) break;
      this.budget.consume(STEPS_PER_ENTRY);
      const isLeftOut = isSubmoduleMode(mode) || isSymlinkMode(mode);
      const location = isLeftOut || path.length > PATH_BYTES_MAX ? undefined : catalog.find(oid);
      if (!location) continue;
      if (!isTreeMode(mode)) {
        this.addFile(location, mode, path, name, this.findAttributes(rules, path));
      } else if (depth <= DEPTH_MAX && (rules || !this.isExcluded(`${path}/`))) {
        below.push({ location, path: `${path}/`, depth, rules });
      }
    }
    return below;
  }

  private findAttributes(rules: AttributeStack | undefined, path: string): Attributes | undefined {
    if (!rules) return undefined;
    return rules.find(path as ByteText, this.budget);
  }

  /** The rules that apply in a directory; undefined without any linguist attribute. */
  private async enter(
    { path, rules }: Directory,
    entries: readonly TreeEntry[],
  ): Promise<AttributeStack | undefined> {
    const { catalog, objects } = this;
    const file = entries.find(({ name, mode }) => name === ".gitattributes" && !isTreeMode(mode));
    const location = file && !isSymlinkMode(file.mode) ? catalog.find(file.oid) : undefined;
    const isRead = location && catalog.sizeBytes(location) <= ATTRIBUTES_BYTES_MAX;
    if (!isRead || this.attributesLeft-- <= 0) return rules;
    const text = readByteText(await objects.readAt(location));
    if (!text.includes("linguist-")) return rules;
    if (path === "") return AttributeStack.root(text, NAMES);
    const above = rules ?? AttributeStack.root("" as ByteText, NAMES);
    return above.enter(path.slice(0, -1) as ByteText, text);
  }

  /**
   * Whether a path is excluded by default. Everything below an excluded directory is excluded too.
   */
  private isExcluded(path: string): boolean {
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
    const flag = (what: string) => attributes && flagOf(attributes, `linguist-${what}`);
    if (flag("vendored") ?? table.vendored.test(path)) return;
    if (flag("generated") ?? table.generated.test(path)) return;
    if (flag("documentation") ?? table.documentation.test(path)) return;
    const isDetectable = flag("detectable");
    if (isDetectable === false) return;
    const sizeBytes = this.catalog.sizeBytes(location);
    const file: CandidateFile = { location, sizeBytes, isDetectable };
    const attributeValue = attributes && textOf(attributes, "linguist-language");
    const language = attributeValue === undefined ? undefined : table.find(attributeValue);
    if (language) {
      this.add(language, file);
      return;
    }
    const found = table.findByName(name);
    const [first, ...others] = found?.languages ?? [];
    if (!found || !first) {
      if (mode === MODE_EXECUTABLE && !name.includes(".")) this.scripts.push(file);
    } else if (others.length === 0) {
      this.add(first, file);
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

  /** Counts the files with ambiguous names. */
  private async countAmbiguous(): Promise<void> {
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
   * Reads the largest of the files to detect their language, and counts the others as the most
   * frequent result.
   *
   * @param usual The language if no read file has a detectable one.
   * @returns The number of files read.
   */
  private async vote(
    files: readonly CandidateFile[],
    readsMax: number,
    usual: Language | undefined,
    detect: (content: string) => Language | undefined,
  ): Promise<number> {
    const readable = files.filter(({ sizeBytes }) => sizeBytes <= READ_BYTES_MAX);
    const read = readable.toSorted((a, b) => b.sizeBytes - a.sizeBytes).slice(0, readsMax);
    const votes = new Map<Language | undefined, number>();
    const detected = new Map<CandidateFile, Language>();
    for (const file of read) {
      if (this.budget.isExhausted) break;
      this.budget.consume(STEPS_PER_HEAD);
      const language = detect(await this.readHead(file));
      votes.set(language, (votes.get(language) ?? 0) + 1);
      if (language) detected.set(file, language);
    }
    const [[most] = []] = [...votes].toSorted(([, a], [, b]) => b - a);
    for (const file of files) {
      const language = detected.get(file) ?? most ?? usual;
      if (language) this.add(language, file);
    }
    return read.length;
  }

  private async readHead({ location, sizeBytes }: CandidateFile): Promise<string> {
    const { catalog, objects } = this;
    if (sizeBytes > READ_BYTES_MAX || objects.findLarge(catalog.oid(location))) return "";
    const content = await objects.readAt(location);
    return shorten(readByteText(content.subarray(0, HEAD_BYTES)));
  }

  private add({ isCounted, group }: Language, { sizeBytes, isDetectable }: CandidateFile): void {
    if (!(isDetectable ?? isCounted)) return;
    this.bytes.set(group, (this.bytes.get(group) ?? 0) + sizeBytes);
  }
}

/**
 * SECURITY: many patterns begin with an unbounded run of blanks or letters. Long runs are
 * shortened, since such a pattern is retried at each of their characters, which is quadratic.
 */
const shorten = (text: string): string =>
  text.replaceAll(/(\s)\s{32,}/g, "$1\n").replaceAll(/(\S{100})\S+/g, "$1");

/** The boolean value of an attribute; undefined if it is unspecified. */
function flagOf(attributes: Attributes, name: string): boolean | undefined {
  const value = attributes.get(name);
  if (value === undefined || value === "unspecified") return undefined;
  return typeof value === "boolean" ? value : value.text !== "false";
}

function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name);
  return typeof value === "object" ? value.text : undefined;
}

/** Finds the interpreter of a script from its shebang line; undefined without one. */
function findInterpreter(content: string): string | undefined {
  const [, line = ""] = /^#!([^\r\n]*)/.exec(content) ?? [];
  const words = line.split(/\s+/).filter((word) => word !== "");
  const nameOf = (word = "") => word.slice(word.lastIndexOf("/") + 1);
  const [first, ...rest] = words;
  const name = nameOf(first);
  // A shell script that immediately re-executes itself with another program.
  const [, execProgram] = /^(?:[^\n]*\n){1,5}?exec (\w+)[^\n]+\$0[^\n]+\$@/.exec(content) ?? [];
  if (name === "sh" && execProgram !== undefined) return execProgram;
  if (name !== "env") return name === "" ? undefined : name;
  // Options and assignments of `env` precede the program.
  const program = rest.find((word) => !word.startsWith("-") && !word.includes("="));
  return program === undefined ? undefined : nameOf(program);
}
