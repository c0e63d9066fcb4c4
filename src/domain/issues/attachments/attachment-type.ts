import { invalid } from "../../../lib/failure.ts";
import { detectContentType } from "../../code/contents/content-type.ts";

/** Bytes at the start of a file by which its media type is detected. */
export const ATTACHMENT_HEAD_BYTES = 8000;

/**
 * Whether a file may be attached, by the ending of its name or the media type that its content has.
 * The type that the client names does not count.
 *
 * @param types Endings and media types, as the configuration has them; none allow all.
 * @param head  The start of the content; undefined while it is not known.
 */
export function isTypeAllowed(
  types: readonly string[],
  name: string,
  head: Uint8Array | undefined,
): boolean {
  if (types.length === 0) return true;
  const lowerName = name.toLowerCase();
  const [detected = ""] = head ? detectContentType(name, head).split(";") : [];
  return types.some((type) => {
    if (type.startsWith(".")) return lowerName.endsWith(type);
    if (type === "*/*") return true;
    if (detected === "") return false;
    return type.endsWith("/*") ? detected.startsWith(type.slice(0, -1)) : detected === type;
  });
}

/** Whether any of the types is detected in the content. */
export const areContentsChecked = (types: readonly string[]): boolean =>
  types.some((type) => !type.startsWith("."));

export const typeFailure = () =>
  invalid("This file cannot be uploaded or modified due to a forbidden file extension or type.");

/** Media types that browsers show and never run, by ending. Files of any other are saved. */
const SHOWN: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  pdf: "application/pdf",
  txt: "text/plain; charset=utf-8",
  log: "text/plain; charset=utf-8",
  md: "text/plain; charset=utf-8",
  patch: "text/plain; charset=utf-8",
  csv: "text/plain; charset=utf-8",
  json: "text/plain; charset=utf-8",
  jsonc: "text/plain; charset=utf-8",
};

/**
 * How a file is served, by its name: browsers take its type for granted.
 *
 * SECURITY: no type that can have scripts is shown. An SVG keeps its type, so that a page can show
 * it as an image, where nothing of it runs.
 */
export function servedTypeOf(name: string): { type: string; isShown: boolean } {
  const [, ending = ""] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  if (ending === "svg") return { type: "image/svg+xml", isShown: false };
  const type = Object.hasOwn(SHOWN, ending) ? SHOWN[ending] : undefined;
  return { type: type ?? "application/octet-stream", isShown: type !== undefined };
}
