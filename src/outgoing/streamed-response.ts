import type { PatientReader } from "../lib/read-pieces.ts";
import type { Blocked, Unreached } from "./outcome.ts";

/** Bounds of a request whose response is read as a stream. */
export interface StreamLimits {
  /**
   * How long nothing may happen: no answer to a request and none of its redirects, no bytes of the
   * response, of which 256 KB count as some once there were so many before, and no piece taken of a
   * streamed request body. In milliseconds.
   */
  idleMs: number;
  /**
   * For everything together, also the time that the reader of the response takes. In milliseconds.
   */
  totalMs: number;
  /** Maximum size of the response's body, in bytes after decompression. */
  bodyBytesMax: number;
  /**
   * With 0, and for a request whose body is a stream, a redirect is returned like any other
   * response.
   */
  redirectsMax: number;
}

/** A response whose body is still to be read. */
export interface StreamedResponse {
  kind: "opened";
  status: number;
  headers: Headers;
  /** The URL that responded, after all redirects. */
  url: string;
  /**
   * The body, after decoding the Content-Encoding. The request ends with it, also where its reader
   * stops before.
   *
   * @throws ResponseFailure if the body breaks off, or exceeds a limit.
   */
  body: AsyncGenerator<Uint8Array, void>;
  /** Ends the request. For a body that is not read at all. */
  readonly end: () => void;
}

/** The beginning of a response to a request, or why there is none. */
export type OpenOutcome = StreamedResponse | Blocked | Unreached | { kind: "timeout" };

/** Why a response ended early. */
export type ResponseFailureKind = "network" | "timeout" | "too_large";

/** The body of a response that could not be read to its end. The message is public. */
export class ResponseFailure extends Error {
  readonly kind: ResponseFailureKind;

  constructor(kind: ResponseFailureKind, message: string) {
    super(message);
    this.name = "ResponseFailure";
    this.kind = kind;
  }
}

/** Size of a read, in bytes. */
const READ_BYTES = 256 * 1024;
/**
 * Bytes of a body up to which a read returns as soon as anything has arrived: a host may report its
 * progress every few seconds for a long time before it sends much. Later reads wait for a full
 * buffer, since bodies arrive in chunks of 4 KB, each of which costs a call into the runtime.
 */
const EAGER_BYTES = 256 * 1024;

/**
 * Ends a request once nothing has happened for a while, or when its time is over.
 *
 * What waits for the request races against `expired`: the platform does not settle every promise of
 * an aborted request.
 */
export class RequestClock {
  readonly expired: Promise<{ kind: "timeout" }>;
  private readonly abort = new AbortController();
  private readonly idleMs: number;
  private readonly totalTimer: ReturnType<typeof setTimeout>;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;
  private expire: () => void = () => {};

  constructor({ idleMs, totalMs }: Pick<StreamLimits, "idleMs" | "totalMs">) {
    this.idleMs = idleMs;
    this.expired = new Promise((resolve) => {
      this.expire = () => {
        resolve({ kind: "timeout" });
        this.end();
      };
    });
    this.totalTimer = setTimeout(() => this.expire(), totalMs);
    this.restart();
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Something has happened. */
  restart(): void {
    this.pause();
    if (!this.signal.aborted) this.idleTimer = setTimeout(() => this.expire(), this.idleMs);
  }

  /** The reader is busy, so that only the total time runs. */
  pause(): void {
    clearTimeout(this.idleTimer);
  }

  /** Ends the request. */
  end(): void {
    this.pause();
    clearTimeout(this.totalTimer);
    this.abort.abort();
  }
}

/** Reads the body of a response within its limits, and ends the request with it. */
export async function* readStreamed(
  { body }: Pick<Response, "body">,
  bytesMax: number,
  clock: RequestClock,
): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader({ mode: "byob" }) as PatientReader | undefined;
  let byteCount = 0;
  try {
    if (!reader) return;
    for (;;) {
      clock.restart();
      const minBytes = byteCount < EAGER_BYTES ? 1 : READ_BYTES;
      const read = reader
        .readAtLeast(minBytes, new Uint8Array(READ_BYTES))
        .catch(() => "broken" as const);
      const result = await Promise.race([read, clock.expired]);
      clock.pause();
      if (result === "broken") {
        // The body is truncated, or does not match its Content-Encoding.
        if (clock.signal.aborted) throw tookTooLong();
        throw new ResponseFailure("network", "the answer broke off");
      }
      if ("kind" in result) throw tookTooLong();
      if (result.value) byteCount += result.value.length;
      if (byteCount > bytesMax) {
        throw new ResponseFailure("too_large", `the answer has more than ${bytesMax} bytes`);
      }
      if (result.value && result.value.length > 0) yield result.value;
      if (result.done) return;
    }
  } finally {
    clock.end();
    // Not awaited: it may wait for the other side. A failed stream has reported its error to the
    // reader already.
    void reader?.cancel().catch(() => undefined);
  }
}

const tookTooLong = (): ResponseFailure =>
  new ResponseFailure("timeout", "the answer took too long");
