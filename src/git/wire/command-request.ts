import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { type Capabilities, formatCapabilities, parseCapabilities } from "./capabilities.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { DELIMITER_PKT, FLUSH_PKT, formatLine, joinBytes, pktText } from "./pkt-line.ts";

/** A request of version 2: one command with its arguments. */
export interface CommandRequest {
  readonly command: string;
  readonly capabilities: Capabilities;
  /** The argument lines, without line feeds. */
  readonly args: readonly ByteText[];
}

/**
 * Requests with more lines are refused; this bounds the memory that a client can make the server
 * hold.
 */
const LINES_MAX = 400_000;

/**
 * Reads a request of version 2.
 *
 * @returns Undefined while the request is incomplete. A request that is only a flush, which a
 * client may send to end the session, has the command "".
 * @throws GitError `protocol` unless exactly one command is named; `unsupported` for a hash other
 * than SHA-1; `limit` for too many lines.
 * @see gitprotocol-v2(5), "Command Request".
 */
export function parseCommandRequest(
  bytes: Uint8Array,
  offset = 0,
): { value: CommandRequest; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const words: ByteText[] = [];
    const args: ByteText[] = [];
    let isInArgs = false;
    for (let pkt = cursor.next(); pkt.kind !== "flush"; pkt = cursor.next()) {
      if (pkt.kind === "delimiter" && !isInArgs) {
        isInArgs = true;
        continue;
      }
      if (pkt.kind !== "data") throw new GitError("protocol", `unexpected ${pkt.kind} packet`);
      if (words.length + args.length >= LINES_MAX) throw new GitError("limit", "too many lines");
      (isInArgs ? args : words).push(pktText(pkt.payload));
    }
    if (words.length === 0 && !isInArgs) return { command: "", capabilities: new Map(), args };

    const capabilities = parseCapabilities(words);
    const commands = capabilities.get("command") ?? [];
    const [command] = commands;
    if (command === undefined || commands.length > 1) {
      throw new GitError("protocol", "a request names one command");
    }
    const format = capabilities.get("object-format")?.[0] ?? "sha1";
    if (format !== "sha1") throw new GitError("unsupported", `object format ${format}`);
    return { command, capabilities, args };
  });
}

/** The bytes of a request of version 2. */
export function formatCommandRequest(request: CommandRequest): Uint8Array {
  const words = formatCapabilities(request.capabilities).filter(
    (word) => !word.startsWith("command="),
  );
  return joinBytes([
    formatLine(`command=${request.command}`),
    ...words.map(formatLine),
    DELIMITER_PKT,
    ...request.args.map(formatLine),
    FLUSH_PKT,
  ]);
}
