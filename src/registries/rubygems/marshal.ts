import { type ByteText, encodeText } from "../../git/byte-text.ts";

/** A value as Ruby's Marshal writes it. Strings are UTF-8. */
export type MarshalValue =
  | string
  | number
  | boolean
  | null
  | readonly MarshalValue[]
  | ReadonlyMap<string, MarshalValue>
  | RubyValue;

/** A value that has no counterpart in JSON. */
type RubyValue =
  | { readonly kind: "symbol"; readonly name: string }
  /** An object by its instance variables. */
  | {
      readonly kind: "object";
      readonly className: string;
      readonly variables: Readonly<Record<string, MarshalValue>>;
    }
  /** An object of a class with `marshal_dump`, by what that method returns. */
  | { readonly kind: "dumped"; readonly className: string; readonly value: MarshalValue }
  /** An object of a class with `_dump`, by the bytes that that method returns. */
  | {
      readonly kind: "bytes";
      readonly className: string;
      readonly bytes: ByteText;
      readonly variables?: Readonly<Record<string, MarshalValue>>;
    };

/**
 * Serializes a value in Ruby's Marshal format, version 4.8. Objects are never shared.
 *
 * @throws RangeError for a number that is no integer of at most 30 bits and a sign.
 * @see https://docs.ruby-lang.org/en/3.3/marshal_rdoc.html
 */
export function formatMarshal(value: MarshalValue): ByteText {
  return `\x04\x08${new MarshalWriter().write(value)}` as ByteText;
}

/** Writes the parts of one stream, in which a symbol that occurs again is a reference. */
class MarshalWriter {
  private readonly symbols = new Map<string, number>();

  write(value: MarshalValue): string {
    if (value === null) return "0";
    if (value === true) return "T";
    if (value === false) return "F";
    if (typeof value === "number") return `i${formatInteger(value)}`;
    // The instance variable `E` is true for UTF-8.
    if (typeof value === "string")
      return `I"${bytesOf(encodeText(value))}${this.pairs({ E: true })}`;
    if (isList(value)) {
      return `[${formatInteger(value.length)}${value.map((each) => this.write(each)).join("")}`;
    }
    if (isMap(value)) {
      const parts = Array.from(value, ([key, each]) => this.write(key) + this.write(each));
      return `{${formatInteger(value.size)}${parts.join("")}`;
    }
    return this.writeObject(value);
  }

  private writeObject(value: RubyValue): string {
    switch (value.kind) {
      case "symbol":
        return this.symbol(value.name);
      case "object":
        return `o${this.symbol(value.className)}${this.pairs(value.variables)}`;
      case "dumped":
        return `U${this.symbol(value.className)}${this.write(value.value)}`;
      case "bytes": {
        const { className, bytes, variables } = value;
        const written = `u${this.symbol(className)}${bytesOf(bytes)}`;
        return variables ? `I${written}${this.pairs(variables)}` : written;
      }
      default:
        return value satisfies never;
    }
  }

  private pairs(variables: Readonly<Record<string, MarshalValue>>): string {
    const entries = Object.entries(variables);
    const parts = entries.map(([name, each]) => this.symbol(name) + this.write(each));
    return formatInteger(entries.length) + parts.join("");
  }

  private symbol(name: string): string {
    const known = this.symbols.get(name);
    if (known !== undefined) return `;${formatInteger(known)}`;
    this.symbols.set(name, this.symbols.size);
    return `:${bytesOf(encodeText(name))}`;
  }
}

const isList = (value: MarshalValue): value is readonly MarshalValue[] => Array.isArray(value);
const isMap = (value: MarshalValue): value is ReadonlyMap<string, MarshalValue> =>
  value instanceof Map;

const bytesOf = (text: ByteText): string => formatInteger(text.length) + text;

/**
 * An integer: small ones in one byte, others as their number of bytes, negative for negative ones,
 * and the bytes.
 */
function formatInteger(value: number): string {
  if (!Number.isInteger(value) || value < -(2 ** 30) || value >= 2 ** 30) {
    throw new RangeError(`${value} is no integer that Marshal stores in place`);
  }
  if (value === 0) return "\0";
  if (value > 0 && value < 123) return String.fromCharCode(value + 5);
  if (value < 0 && value > -124) return String.fromCharCode((value - 5) & 0xff);
  const end = value < 0 ? -1 : 0;
  let digits = "";
  for (let rest = value; rest !== end; rest >>= 8) digits += String.fromCharCode(rest & 0xff);
  const count = value < 0 ? 256 - digits.length : digits.length;
  return String.fromCharCode(count) + digits;
}
