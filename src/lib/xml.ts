import { SaxesParser } from "saxes";

import { pause } from "./time-slice.ts";

/** An element of an XML document. */
export interface XmlElement {
  /** With its prefix, as it is written. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** The text directly in it, with white space at its ends removed. */
  readonly text: string;
}

/** The bounds of a document. */
export interface XmlBounds {
  readonly elementsMax: number;
  readonly depthMax: number;
}

/** Characters that are parsed at once, and steps for each. */
const PIECE_CHARS = 16 * 1024;
const CHAR_STEPS = 15;

const DEFAULT_BOUNDS: XmlBounds = { elementsMax: 20_000, depthMax: 50 };

type Building = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { children: XmlElement[] };

/**
 * Parses an XML document. Other requests run meanwhile.
 *
 * SECURITY: a document type declaration is refused, so no entity is declared and none is expanded.
 *
 * @returns The root element; undefined unless the bytes are one well-formed document within the
 *   bounds.
 * @see https://www.w3.org/TR/xml/
 */
export async function parseXml(
  bytes: Uint8Array,
  { elementsMax, depthMax }: XmlBounds = DEFAULT_BOUNDS,
): Promise<XmlElement | undefined> {
  const source = decode(bytes);
  if (source === undefined) return undefined;
  const parser = new SaxesParser();
  const open: Building[] = [];
  let root: XmlElement | undefined;
  let count = 0;
  const refuse = (): never => {
    throw new NotXml();
  };
  parser.on("error", refuse);
  parser.on("doctype", refuse);
  parser.on("opentag", ({ name, attributes }) => {
    count++;
    if (count > elementsMax || open.length >= depthMax) refuse();
    open.push({ name, attributes, children: [], text: "" });
  });
  const addText = (text: string): void => {
    const last = open.at(-1);
    if (last) last.text += text;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    const closed = open.pop();
    if (!closed) return;
    closed.text = closed.text.trim();
    const parent = open.at(-1);
    if (parent) parent.children.push(closed);
    else root = closed;
  });
  try {
    for (let at = 0; at < source.length; at += PIECE_CHARS) {
      parser.write(source.slice(at, at + PIECE_CHARS));
      await pause(CHAR_STEPS * PIECE_CHARS);
    }
    parser.close();
  } catch (error) {
    if (error instanceof NotXml) return undefined;
    throw error;
  }
  return root;
}

/** The first child of a name. */
export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

/** The text of the first child of a name; "" without one. */
export const textOf = (element: XmlElement | undefined, name: string): string =>
  childOf(element, name)?.text ?? "";

/** The children of a name. */
export const childrenOf = (element: XmlElement | undefined, name: string): readonly XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

/** Writes text so that it stands for itself in an element or in a quoted attribute. */
export const escapeXml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    // Characters that no XML document can have, in any spelling.
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "");

class NotXml extends Error {}

/** Characters of the declaration that may name the encoding. */
const DECLARATION_CHARS_MAX = 200;

/** Decodes by the byte order mark or the declared encoding; UTF-8 by default. */
function decode(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_CHARS_MAX));
  const declared = /^(?:\u00EF\u00BB\u00BF)?<\?xml[^>]*\sencoding\s*=\s*["']([-\w.]+)["']/.exec(
    head,
  )?.[1];
  const marked = head.startsWith("\u00FF\u00FE")
    ? "utf-16le"
    : head.startsWith("\u00FE\u00FF")
      ? "utf-16be"
      : undefined;
  try {
    return new TextDecoder(marked ?? declared ?? "utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    // An unknown encoding, or bytes that are not in it.
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}
