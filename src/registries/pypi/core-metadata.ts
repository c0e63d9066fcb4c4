import { malformed } from "../../lib/failure.ts";

/** Maximum bytes of the core metadata of a distribution. */
export const CORE_METADATA_BYTES_MAX = 512 * 1024;
const FIELDS_MAX = 5000;

/** The core metadata of a distribution. */
export interface CoreMetadata {
  /** All fields in lower case, each with its values in order. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  readonly description: string;
}

/**
 * Parses core metadata: header fields, and the description behind them.
 *
 * @throws Failure `malformed` for bytes that are not UTF-8, a line that is no field, and missing
 *   names and versions.
 * @see "Core metadata specifications" of the Python Packaging User Guide.
 */
export function parseCoreMetadata(bytes: Uint8Array): CoreMetadata {
  const text = decode(bytes).replaceAll("\r\n", "\n");
  const end = text.indexOf("\n\n");
  const head = end < 0 ? text : text.slice(0, end);
  const body = end < 0 ? "" : text.slice(end + 2);
  const fields = new Map<string, string[]>();
  let last: string[] | undefined;
  const lines = head.split("\n");
  if (lines.length > FIELDS_MAX) throw malformed("the metadata has too many fields");
  for (const line of lines) {
    if (/^[ \t]/.test(line) && last) {
      // A continued field. Descriptions in fields are indented by eight spaces, or by seven and a
      // bar.
      last.push(`${last.pop() ?? ""}\n${line.replace(/^(?: {8}| {7}\|)/, "")}`);
      continue;
    }
    if (line === "") continue;
    const [, name, value = ""] = /^([A-Za-z0-9-]+)[ \t]*:[ \t]?(.*)$/.exec(line) ?? [];
    if (name === undefined) throw malformed("the metadata has a line that is no field");
    const key = name.toLowerCase();
    last = fields.get(key) ?? [];
    fields.set(key, last);
    last.push(value);
  }
  for (const name of ["metadata-version", "name", "version"]) {
    if (!fields.get(name)?.[0]) throw malformed(`the metadata has no ${name}`);
  }
  return { fields, description: fields.get("description")?.[0] ?? body };
}

/** The first value of a field; "" without one. */
export const fieldOf = ({ fields }: CoreMetadata, name: string): string =>
  fields.get(name)?.[0]?.trim() ?? "";

/** The values of a field that may occur several times. */
export const fieldsOf = ({ fields }: CoreMetadata, name: string): readonly string[] =>
  fields.get(name) ?? [];

/**
 * Whether the metadata of a source distribution hold for whatever is built from it.
 *
 * @see "Metadata for Python Software Packages 2.2" (PEP 643), `Dynamic`.
 */
export function isStatic(metadata: CoreMetadata): boolean {
  const [major = 0, minor = 0] = fieldOf(metadata, "metadata-version").split(".").map(Number);
  const isMarked = major > 2 || (major === 2 && minor >= 2);
  return isMarked && fieldsOf(metadata, "dynamic").length === 0;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw malformed("the metadata is not encoded in UTF-8");
  }
}
