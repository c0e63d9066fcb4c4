import { Buffer } from "node:buffer";

/** `bytes` in base64, without line breaks. */
export const formatBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
