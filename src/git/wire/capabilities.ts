import type { ByteText } from "../byte-text.ts";

/**
 * Capability values by name. A capability without a value has the empty text; a name may occur
 * repeatedly.
 */
export type Capabilities = ReadonlyMap<string, readonly ByteText[]>;

/** Parses words of the form `name` or `name=value`. */
export function parseCapabilities(words: Iterable<string>): Capabilities {
  const capabilities = new Map<string, ByteText[]>();
  for (const word of words) {
    if (word === "") continue;
    const equals = word.indexOf("=");
    const name = equals < 0 ? word : word.slice(0, equals);
    const value = (equals < 0 ? "" : word.slice(equals + 1)) as ByteText;
    const values = capabilities.get(name);
    if (values) values.push(value);
    else capabilities.set(name, [value]);
  }
  return capabilities;
}

/** Words of the form `name` or `name=value`, in order of insertion. */
export function formatCapabilities(capabilities: Capabilities): string[] {
  return [...capabilities].flatMap(([name, values]) =>
    values.map((value) => (value === "" ? name : `${name}=${value}`)),
  );
}
