import type { ByteText } from "../byte-text.ts";

/** Capabilities by name. One without a value has the empty text; one may stand several times. */
export type Capabilities = ReadonlyMap<string, readonly ByteText[]>;

/** Reads `name` and `name=value` words. */
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

/** `name` and `name=value` words, in order. */
export function formatCapabilities(capabilities: Capabilities): string[] {
  return [...capabilities].flatMap(([name, values]) =>
    values.map((value) => (value === "" ? name : `${name}=${value}`)),
  );
}
