import { SERVICE_HEADER } from "../keeper/protocol.ts";
import {
  LEASE_HEADER,
  type Located,
  LOCATE,
  METADATA_SIZE_HEADER,
  type Piece,
  RELEASE,
  REQUEST_HEADER,
  type LocateRequest,
} from "./protocol.ts";

type Bindings = {
  /** The buckets; in an entry process, their readers. */
  objects: DurableObjectNamespace;
  /** In an entry process: the process that has the buckets. */
  keeper?: Fetcher;
  /** The directory of the files. */
  files: Fetcher;
};

/** The directory of the files, and the bucket's part of it. */
type Directory = { files: Fetcher; bucket: string };

/** What the entrance uses of a request of R2's binding. */
type BindingRequest = {
  method: string;
  object: string;
  range?: { offset?: number | string; length?: number | string; suffix?: number | string };
  rangeHeader?: string;
  onlyIf?: object;
};

/** How often a file that was replaced between being found and being opened is looked for. */
const ATTEMPTS_MAX = 5;

/**
 * What R2's binding calls: reads go straight to the files, all else to the object, which is
 * Miniflare's simulator.
 */
export default {
  async fetch(request: Request, bindings: Bindings, ctx: ExecutionContext<{ bucket: string }>) {
    const { bucket } = ctx.props;
    const { objects, keeper } = bindings;
    const callObject: Call = (init) =>
      objects
        .get(objects.idFromName(bucket))
        .fetch(new Request(request, { ...init, cf: { miniflare: { name: bucket } } }));
    const callKeeper = keeper && openKeeper(keeper, bucket, request);
    const call = callKeeper ?? callObject;
    const locate = request.method === "GET" ? readLocateRequest(request.headers) : undefined;
    const directory = { files: bindings.files, bucket };
    // A reader that finds nothing leaves it to the keeper.
    const calls = callKeeper ? [callObject, callKeeper] : [callObject];
    const found = locate && (await find(calls, directory, locate));
    return found ? formatAnswer(call, directory, found, ctx) : call({});
  },
};

/** Calls the object of the bucket, with some of the request replaced. */
type Call = (init: RequestInit) => Promise<Response>;

const openKeeper =
  (keeper: Fetcher, bucket: string, request: Request): Call =>
  (init) => {
    const sent = new Request(request, init);
    sent.headers.set(SERVICE_HEADER, bucket);
    return keeper.fetch(sent);
  };

/** The bytes of a key, of which the first file is open. */
type Found = { located: Located; first: ReadableStream<Uint8Array> | undefined };

/**
 * @param calls Asked in turn until one knows the key; the last one is the simulator.
 * @returns Undefined if the simulator refuses the request, so that it formats the error.
 */
async function find(
  [call, ...others]: readonly Call[],
  directory: Directory,
  request: LocateRequest,
): Promise<Found | undefined> {
  if (!call) return undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await call({ method: LOCATE, body: JSON.stringify(request) });
    if (!answer.ok) return find(others, directory, request);
    const located: Located = await answer.json();
    const [piece] = located.pieces;
    if (!piece) return { located, first: undefined };
    const first = await open(directory, piece);
    if (first) return { located, first };
    await release(call, located);
  }
  return undefined;
}

async function release(call: Call, { lease }: Located): Promise<void> {
  if (lease !== undefined) await call({ method: RELEASE, headers: { [LEASE_HEADER]: lease } });
}

function formatAnswer(
  call: Call,
  directory: Directory,
  { located, first }: Found,
  ctx: ExecutionContext,
): Response {
  const metadata = new TextEncoder().encode(located.metadata);
  const size = metadata.length + located.lengthBytes;
  const { readable, writable } = new FixedLengthStream(size);
  const sendAndRelease = async (): Promise<void> => {
    await send(directory, metadata, first, located.pieces.slice(1), writable);
    await release(call, located);
  };
  ctx.waitUntil(sendAndRelease());
  return new Response(readable, {
    headers: {
      [METADATA_SIZE_HEADER]: String(metadata.length),
      "Content-Type": "application/json",
      "Content-Length": String(size),
    },
  });
}

/** @returns Undefined for a request that the simulator answers. */
function readLocateRequest(headers: Headers): LocateRequest | undefined {
  const text = headers.get(REQUEST_HEADER);
  if (text === null) return undefined;
  const { method, object, range, rangeHeader, onlyIf } = JSON.parse(text) as BindingRequest;
  if (method !== "get" || rangeHeader !== undefined || onlyIf !== undefined) return undefined;
  if (!range) return { key: object, span: undefined };
  const { offset = 0, length, suffix } = range;
  const span = { offset: Number(offset), ...(length !== undefined && { length: Number(length) }) };
  if (suffix !== undefined || span.length === 0) return undefined;
  return { key: object, span };
}

/** @returns Undefined if the file does not exist any more. */
async function open(
  { files, bucket }: Directory,
  { id, start, end }: Piece,
): Promise<ReadableStream<Uint8Array> | undefined> {
  // The simulator's path. Names of buckets have no characters that it replaces.
  const url = `http://files/${bucket}/blobs/${id}`;
  const response = await files.fetch(url, { headers: { Range: `bytes=${start}-${end}` } });
  if (response.ok && response.body) return response.body;
  await response.body?.cancel();
  return undefined;
}

/**
 * Sends the metadata, and then the pieces: each is opened when the one before has been sent, so
 * that none is read ahead.
 */
async function send(
  directory: Directory,
  metadata: Uint8Array,
  first: ReadableStream<Uint8Array> | undefined,
  others: readonly Piece[],
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  try {
    const writer = writable.getWriter();
    await writer.write(metadata);
    writer.releaseLock();
    await first?.pipeTo(writable, { preventClose: true });
    for (const piece of others) {
      const body = await open(directory, piece);
      if (!body) throw new Error(`a file of the bucket is gone: ${piece.id}`);
      await body.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  } catch (error) {
    // Nobody wants the rest, or it is gone.
    await writable.abort(error).catch(() => {});
  }
}
