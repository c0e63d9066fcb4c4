import type { ByteText } from "../byte-text.ts";
import { GitError } from "../error.ts";
import { NULL_OID, type Oid } from "../oid.ts";
import { type Capabilities, formatCapabilities, parseCapabilities } from "./capabilities.ts";
import { readOidText } from "./oid-text.ts";
import { parseMessage } from "./pkt-cursor.ts";
import { FLUSH_PKT, formatLine, formatPkt, joinBytes } from "./pkt-line.ts";

/** One ref to create, update or delete. A null id stands for "does not exist". */
export interface RefCommand {
  readonly oldOid: Oid;
  readonly newOid: Oid;
  readonly ref: ByteText;
}

export const isDelete = (command: RefCommand): boolean => command.newOid === NULL_OID;

/** The part of a client's `git-receive-pack` request before the pack. */
export interface ReceiveRequest {
  readonly commands: readonly RefCommand[];
  /** The pusher's boundary, if it pushes from a shallow clone. */
  readonly shallowOids: readonly Oid[];
  readonly capabilities: Capabilities;
  readonly pushOptions: readonly ByteText[];
  /** False if every command is a deletion: then no pack follows. */
  readonly hasPack: boolean;
}

/** Limits on the number of commands and options of a push. */
export interface ReceiveLimits {
  readonly commandsMax: number;
  readonly pushOptionsMax: number;
}

const DEFAULT_LIMITS: ReceiveLimits = { commandsMax: 100_000, pushOptionsMax: 1000 };

/**
 * Reads the commands of a push. The pack starts at `next`.
 *
 * SECURITY: one malformed line refuses the whole push. Otherwise the protection rules would be
 * checked against an incomplete list of commands.
 *
 * Ref names are returned as the client sent them: the code that updates the refs validates them.
 *
 * @returns Undefined while the list is incomplete.
 * @throws GitError `protocol` for a line that is not a command or a ref that is listed twice;
 * `unsupported` for a signed push or another hash; `limit` for a list over its limits.
 * @see gitprotocol-pack(5), "Reference Update Request and Packfile Transfer".
 */
export function parseReceiveRequest(
  bytes: Uint8Array,
  offset = 0,
  limits: ReceiveLimits = DEFAULT_LIMITS,
): { value: ReceiveRequest; next: number } | undefined {
  return parseMessage(bytes, offset, (cursor) => {
    const commands: RefCommand[] = [];
    const shallowOids: Oid[] = [];
    const refs = new Set<string>();
    let capabilities: Capabilities = new Map();
    for (let line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
      if (line.startsWith("shallow ")) {
        if (shallowOids.length >= limits.commandsMax) throw new GitError("limit", "long boundary");
        shallowOids.push(readOidText(line.slice(8)));
        continue;
      }
      if (line.startsWith("push-cert")) throw new GitError("unsupported", "signed pushes");
      const nul = line.indexOf("\0");
      if (nul >= 0 && commands.length > 0) {
        throw new GitError("protocol", "capabilities behind the first command");
      }
      if (nul >= 0)
        capabilities = parseCapabilities(
          line
            .slice(nul + 1)
            .trimEnd()
            .split(" "),
        );
      const command = parseCommand(nul < 0 ? line : (line.slice(0, nul) as ByteText));
      if (refs.has(command.ref)) throw new GitError("protocol", "a ref is named twice");
      if (commands.length >= limits.commandsMax) throw new GitError("limit", "too many commands");
      refs.add(command.ref);
      commands.push(command);
    }
    const format = capabilities.get("object-format")?.[0] ?? "sha1";
    if (format !== "sha1") throw new GitError("unsupported", `object format ${format}`);

    const pushOptions: ByteText[] = [];
    if (capabilities.has("push-options") && commands.length > 0) {
      for (let line = cursor.lineOr("flush"); line !== undefined; line = cursor.lineOr("flush")) {
        if (pushOptions.length >= limits.pushOptionsMax) {
          throw new GitError("limit", "too many push options");
        }
        pushOptions.push(line);
      }
    }
    const hasPack = commands.some((command) => !isDelete(command));
    return { commands, shallowOids, capabilities, pushOptions, hasPack };
  });
}

function parseCommand(line: ByteText): RefCommand {
  if (line.charAt(40) !== " " || line.charAt(81) !== " ") {
    throw new GitError("protocol", "a command is two object ids and a ref");
  }
  const oldOid = readOidText(line.slice(0, 40));
  const newOid = readOidText(line.slice(41, 81));
  const ref = line.slice(82) as ByteText;
  if (oldOid === NULL_OID && newOid === NULL_OID) {
    throw new GitError("protocol", "a command that neither starts nor ends with an object");
  }
  return { oldOid, newOid, ref };
}

/** The bytes of a push before the pack. */
export function formatReceiveRequest(request: Omit<ReceiveRequest, "hasPack">): Uint8Array {
  const words = formatCapabilities(request.capabilities).join(" ");
  const pieces = request.shallowOids.map((oid) => formatLine(`shallow ${oid}`));
  for (const [index, { oldOid, newOid, ref }] of request.commands.entries()) {
    const tail = index === 0 ? `\0 ${words}` : "";
    pieces.push(formatPkt(`${oldOid} ${newOid} ${ref}${tail}` as ByteText));
  }
  pieces.push(FLUSH_PKT);
  if (request.capabilities.has("push-options")) {
    pieces.push(...request.pushOptions.map((option) => formatPkt(option)), FLUSH_PKT);
  }
  return joinBytes(pieces);
}
