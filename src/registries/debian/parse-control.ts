import { type BinaryName, isArchitecture, isDebianVersion, isDebianName } from "./names.ts";

/** The control file of a binary package. */
export interface Control extends BinaryName {
  /**
   * Its fields as an index lists them: one per line, with continuations, and a line feed at the
   * end.
   */
  readonly text: string;
  readonly maintainer: string;
  /** The synopsis, and the text below it. */
  readonly description: string;
  readonly homepage: string;
  readonly section: string;
  readonly dependencies: readonly string[];
}

/**
 * Fields that an index states of the file itself. SECURITY: those of an upload would stand beside
 * them.
 */
const OF_INDEX = new Set(["filename", "size", "md5sum", "sha1", "sha256", "sha512"]);
const FIELDS_MAX = 200;

/**
 * Parses a control file.
 *
 * @returns Undefined for anything else than one paragraph with a valid name, version and
 *   architecture.
 * @see deb-control(5), deb822(5)
 */
export function parseControl(bytes: Uint8Array): Control | undefined {
  const fields = parseFields(bytes);
  if (!fields) return undefined;
  const valueOf = (name: string): string => fields.get(name)?.value ?? "";
  const [name, version, architecture] = ["package", "version", "architecture"].map(valueOf);
  const isValid =
    isDebianName(name ?? "") &&
    isDebianVersion(version ?? "") &&
    isArchitecture(architecture ?? "");
  if (!isValid || !name || !version || !architecture) return undefined;
  const listed = [...fields].filter(([key]) => !OF_INDEX.has(key));
  return {
    name,
    version,
    architecture,
    text: listed.map(([, field]) => `${field.name}: ${field.value}\n`).join(""),
    maintainer: valueOf("maintainer"),
    description: valueOf("description"),
    homepage: valueOf("homepage"),
    section: valueOf("section"),
    dependencies: valueOf("depends")
      .split(",")
      .map((each) => each.replaceAll(/\s+/g, " ").trim())
      .filter((each) => each !== ""),
  };
}

interface Field {
  readonly name: string;
  /** With its continuation lines. */
  readonly value: string;
}

/** The fields by their names in lower case. */
function parseFields(bytes: Uint8Array): Map<string, Field> | undefined {
  const fields = new Map<string, Field>();
  const lines = decode(bytes)?.trimEnd().split("\n");
  let last: Field | undefined;
  for (const line of lines ?? []) {
    // SECURITY: a carriage return would be an end of a line to some readers.
    if (/[^\P{Cc}\t]/u.test(line)) return undefined;
    if (/^[ \t]/.test(line)) {
      // An empty line would end the paragraph; it is written as a dot.
      if (!last || line.trim() === "") return undefined;
      last = { name: last.name, value: `${last.value}\n${line.trimEnd()}` };
    } else {
      const [, name, value = ""] = /^([!-9;-~]+):[ \t]*(.*)$/.exec(line) ?? [];
      const isValid = name !== undefined && !/^[#-]/.test(name);
      if (!isValid || fields.has(name.toLowerCase()) || fields.size === FIELDS_MAX)
        return undefined;
      last = { name, value: value.trimEnd() };
    }
    fields.set(last.name.toLowerCase(), last);
  }
  return fields;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
