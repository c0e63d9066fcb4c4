import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import type { Oid } from "../../../git/oid.ts";
import type { AdvertisedRef } from "../../../git/wire/advertisement.ts";
import type { Capabilities } from "../../../git/wire/capabilities.ts";
import { joinBytes } from "../../../git/wire/pkt-line.ts";
import { choosePushCapabilities, readPushReport } from "../../../git/wire/push-client.ts";
import type { ReceiveReport, RefResult } from "../../../git/wire/receive-report.ts";
import { formatReceiveRequest, type RefCommand } from "../../../git/wire/receive-request.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { SmartHttp } from "./smart-http.ts";

/** The refs and objects of a remote before a push. */
export interface RemotePushRefs {
  /** The refs that accept pushes. */
  readonly refs: readonly AdvertisedRef[];
  /** Objects that it has besides those that its refs reach. */
  readonly haveOids: readonly Oid[];
  readonly capabilities: Capabilities;
}

/** A push to a remote. */
export interface RemotePush {
  /** Each applies only if the ref still has the old id. */
  readonly commands: readonly RefCommand[];
  /** Undefined if all commands are deletions. */
  readonly pack: AsyncGenerator<Uint8Array> | undefined;
  /** Whether all commands are applied or none, if the remote can do that. */
  readonly isAtomic: boolean;
  /** Push options, which are left out for a remote that takes none. */
  readonly options?: readonly string[];
}

/**
 * Bytes up to which a push is sent whole: some servers take no body of unknown length. Git's own
 * bound is `http.postBuffer`, with the same default.
 */
const WHOLE_BYTES_MAX = 1024 * 1024;

/** Maximum size of a report with the progress around it, in bytes. */
const REPORT_BYTES_MAX = 32 * 1024 * 1024;

/** Sends a push, and reads its report. @throws RemoteFailure */
export async function sendPush(
  http: SmartHttp,
  { capabilities }: Pick<RemotePushRefs, "capabilities">,
  { commands, pack, isAtomic, options = [] }: RemotePush,
  agent: ByteText,
): Promise<ReceiveReport> {
  try {
    const requested = { isAtomic, hasOptions: options.length > 0, agent };
    const chosen = choosePushCapabilities(capabilities, requested);
    const head = formatReceiveRequest({
      commands,
      shallowOids: [],
      capabilities: chosen,
      pushOptions: options.map(encodeText),
    });
    const body = await bodyOf(head, pack);
    const response = await http.post("git-receive-pack", 0, body, REPORT_BYTES_MAX);
    try {
      return redacted(http, commands, await readPushReport(response.body, chosen));
    } finally {
      response.end();
    }
  } catch (error) {
    throw http.toFailure(error);
  } finally {
    await pack?.return(undefined);
  }
}

/** The whole body of a small push, and a stream for any other. */
async function bodyOf(
  head: Uint8Array,
  pack: AsyncGenerator<Uint8Array> | undefined,
): Promise<Uint8Array | AsyncGenerator<Uint8Array>> {
  const pieces = [head];
  let bytes = head.length;
  if (!pack) return head;
  while (bytes <= WHOLE_BYTES_MAX) {
    const { value, done } = await pack.next();
    if (done) return joinBytes(pieces);
    pieces.push(value);
    bytes += value.length;
  }
  return joined(pieces, pack);
}

async function* joined(
  pieces: Uint8Array[],
  pack: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
  yield* pack;
}

/** The report with a result for each command, in their order, and without credentials. */
function redacted(
  http: SmartHttp,
  commands: readonly RefCommand[],
  { unpackError, results }: ReceiveReport,
): ReceiveReport {
  if (unpackError !== undefined) {
    throw new RemoteFailure("refused", http.shown(`the remote refuses the pack: ${unpackError}`));
  }
  const byRef = new Map(results.map((result) => [result.ref, result]));
  return {
    unpackError,
    results: commands.map(({ ref }): RefResult => {
      const result = byRef.get(ref);
      if (result?.kind === "ok") return result;
      const reason = result?.reason ?? "the remote does not report it";
      return { kind: "refused", ref, reason: http.shown(reason) };
    }),
  };
}
