import { createHash } from "node:crypto";

import { encodeUtf8 } from "../git/byte-text.ts";
import { answerStoredFile } from "../lib/stored-file.ts";
import type { RegistryContext } from "./env.ts";

/** How a small file is sent. */
interface BytesForm {
  readonly type?: string;
  /** When its content last changed, in milliseconds; undefined if that is not known. */
  readonly modifiedAt: number | undefined;
}

/** Responds with a small file that is made for the request. */
export function answerBytes(
  c: RegistryContext,
  content: string | Uint8Array,
  { type = "application/octet-stream", modifiedAt }: BytesForm,
): Promise<Response> {
  const bytes = typeof content === "string" ? encodeUtf8(content) : content;
  return answerStoredFile(c.req.raw, {
    sizeBytes: bytes.length,
    tag: createHash("sha1").update(bytes).digest("hex"),
    modifiedAt,
    headers: { "Content-Type": type, "Cache-Control": "private, no-cache" },
    open: async ({ start, end }) => bytes.slice(start, end),
  });
}
