import type { Ctx } from "../../../context.ts";
import { retryTimeOf } from "../../../forges/rate-limit.ts";
import type { Outgoing } from "../../../outgoing/outgoing.ts";
import { ResponseFailure, type StreamedResponse } from "../../../outgoing/streamed-response.ts";
import { RemoteFailure, type RemoteFailureKind } from "../../../outgoing/remote-failure.ts";

/** For one file, with the time that its storing takes, in milliseconds. */
const TOTAL_MS = 10 * 60_000;
const REDIRECTS_MAX = 5;

/** A file elsewhere that is being read. */
interface RemoteFile {
  /** @throws RemoteFailure */
  readonly pieces: AsyncGenerator<Uint8Array, void>;
}

/**
 * Opens a file at an address from a remote.
 *
 * SECURITY: the address passes the same check as every other, also after redirects, and secrets go
 * to no other host.
 *
 * @throws RemoteFailure
 */
export async function openDownload(
  { outgoing, config }: { outgoing: Outgoing; config: Ctx["config"] },
  url: string,
  headers: Readonly<Record<string, string>>,
  bytesMax: number,
): Promise<RemoteFile> {
  const outcome = await outgoing.open(
    url,
    { headers, secretHeaders: Object.keys(headers) },
    {
      idleMs: config.remoteTimeoutMs,
      totalMs: TOTAL_MS,
      bodyBytesMax: bytesMax,
      redirectsMax: REDIRECTS_MAX,
    },
  );
  switch (outcome.kind) {
    case "blocked":
      throw new RemoteFailure("blocked", outcome.reason);
    case "network":
      throw new RemoteFailure("unreachable", outcome.reason);
    case "timeout":
      throw new RemoteFailure("timeout", "the file took too long");
    case "opened":
      if (outcome.status === 200) return { pieces: piecesOf(outcome) };
      outcome.end();
      throw toFailure(outcome);
    default:
      return outcome satisfies never;
  }
}

/**
 * GitHub counts files of releases like any other request, and refuses them with 403 when a limit is
 * reached.
 */
function toFailure(response: StreamedResponse): RemoteFailure {
  const message = `the file was answered with ${response.status}`;
  const retryAt = retryTimeOf(response, Date.now());
  if (retryAt !== undefined) return new RemoteFailure("rate_limited", message, retryAt);
  return new RemoteFailure(kindOf(response), message);
}

function kindOf({ status }: StreamedResponse): RemoteFailureKind {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404 || status === 410) return "not_found";
  return status >= 500 ? "server" : "protocol";
}

async function* piecesOf({ body }: StreamedResponse): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof ResponseFailure)) throw error;
    throw new RemoteFailure(error.kind === "network" ? "unreachable" : error.kind, error.message);
  }
}
