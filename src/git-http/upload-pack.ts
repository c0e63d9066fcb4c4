import type { RequestContext } from "../entrance/enter-repository.ts";
import { GitError } from "../git/error.ts";
import type { ByteText } from "../git/byte-text.ts";
import { formatErrorPkt } from "../git/wire/advertisement.ts";
import { type CommandRequest, parseCommandRequest } from "../git/wire/command-request.ts";
import {
  type FetchRequest,
  parseFetchArgs,
  parseUploadRequest,
  type UploadRequest,
} from "../git/wire/fetch-request.ts";
import {
  type AckMode,
  formatAcks,
  formatFetchResponse,
  formatShallowUpdate,
} from "../git/wire/fetch-response.ts";
import { formatLsRefsResponse, parseLsRefsArgs } from "../git/wire/ls-refs.ts";
import { formatObjectInfo, parseObjectInfoArgs } from "../git/wire/object-info.ts";
import { FLUSH_PKT, joinBytes } from "../git/wire/pkt-line.ts";
import {
  BAND_DATA,
  FRAME_PAYLOAD_MAX,
  formatBandError,
  formatFrames,
  formatProgress,
  frameMessage,
  SMALL_FRAME_PAYLOAD_MAX,
} from "../git/wire/side-band.ts";
import { findReachable } from "../git/walk/reachable.ts";
import { logBug } from "../lib/log.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { Snapshot } from "../storage/repository-records.ts";
import type { StoredRepository } from "../storage/storage.ts";
import type { StorageUsage } from "../storage/storage-usage.ts";
import { type RefView, viewRefs } from "./advertised-refs.ts";
import { gitAnswer, logSent } from "./answer.ts";
import { FetchSession } from "./fetch-session.ts";

const RESULT = "git-upload-pack-result";
const EMPTY = new Uint8Array(0);

/** What a request asks of one repository. */
interface RequestPosition {
  readonly stored: StoredRepository;
  readonly snapshot: Snapshot;
  readonly view: RefView;
  readonly requestId: string;
  readonly usage: StorageUsage;
}

/** Answers one `git-upload-pack` request: of version 2 a command, of older ones a round of haves. */
export async function uploadPack(
  { ctx, repo }: RequestContext,
  version: 0 | 1 | 2,
  body: Uint8Array,
  requestId: string,
): Promise<Response> {
  const stored = ctx.git.repository(repo.row);
  const open = async (): Promise<RequestPosition> => {
    const snapshot = await stored.snapshot();
    const view = viewRefs(snapshot, repo.row.defaultBranch);
    return { stored, snapshot, view, requestId, usage: ctx.git.usage };
  };
  if (version !== 2) {
    const upload = parseUploadRequest(body, true)?.value;
    if (!upload || upload.wantOids.length === 0) return gitAnswer(RESULT, EMPTY);
    return speaking(async () => serveRound(await open(), upload));
  }
  const command = parseCommandRequest(body)?.value;
  if (!command || command.command === "") return gitAnswer(RESULT, EMPTY);
  return speaking(async () => runCommand(await open(), command));
}

/** Answers a refusal of the engine as git does: in the stream, where clients show it. */
async function speaking(
  answer: () => Promise<Response>,
  formatError = formatErrorPkt,
): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return gitAnswer(RESULT, formatError(error.message));
  }
}

async function runCommand(
  location: RequestPosition,
  { command, args }: CommandRequest,
): Promise<Response> {
  switch (command) {
    case "ls-refs":
      return listRefs(location, args);
    case "fetch": {
      const request = parseFetchArgs(args);
      const formatError = request.isSidebandAll ? formatBandError : formatErrorPkt;
      return speaking(() => serveFetch(location, request), formatError);
    }
    case "object-info":
      return formatSizes(location, args);
    default:
      throw new GitError("protocol", `unknown command ${JSON.stringify(command)}`);
  }
}

function listRefs({ view }: RequestPosition, args: readonly ByteText[]): Response {
  const { refs, head, unbornTarget } = view;
  const all = head ? [head, ...refs] : refs;
  return gitAnswer(RESULT, formatLsRefsResponse(parseLsRefsArgs(args), all, unbornTarget));
}

async function formatSizes(
  { stored, snapshot, view }: RequestPosition,
  args: readonly ByteText[],
): Promise<Response> {
  const request = parseObjectInfoArgs(args);
  const { catalog, graph } = await stored.open(snapshot);
  const reachable = findReachable(
    catalog,
    graph,
    view.refs.map(({ oid }) => oid),
  );
  const sizes = new Map<string, number>();
  for (const oid of request.oids) {
    const location = catalog.find(oid);
    if (location && reachable.has(location)) sizes.set(oid, catalog.sizeBytes(location));
  }
  return gitAnswer(RESULT, formatObjectInfo(request, sizes));
}

async function openSession(
  location: RequestPosition,
  request: FetchRequest,
): Promise<FetchSession> {
  const repository = await location.stored.open(location.snapshot);
  return new FetchSession(location.stored, location.snapshot, location.view, repository, request);
}

/** `fetch` of version 2. */
async function serveFetch(location: RequestPosition, request: FetchRequest): Promise<Response> {
  const session = await openSession(location, request);
  const isReady = !request.isDone && !request.waitsForDone && session.isReady();
  const hasPack = request.isDone || isReady;
  const shallow = session.shallowUpdate();
  const message = formatFetchResponse({
    ...(!request.isDone && { acknowledgments: { commonOids: session.commonOids, isReady } }),
    ...(shallow && { shallow }),
    wantedRefs: session.wantedRefs,
    hasPack,
  });
  const front = request.isSidebandAll ? frameMessage(message) : message;
  if (!hasPack) return gitAnswer(RESULT, front);
  return answerWithPack(location, session, front, request.wantsProgress, FRAME_PAYLOAD_MAX);
}

/** A request of version 0 or 1: its wants, and what the client has so far. */
async function serveRound(location: RequestPosition, request: UploadRequest): Promise<Response> {
  const { capabilities, isDone } = request;
  const session = await openSession(location, request);
  const shallow = session.shallowUpdate();
  const front = shallow ? [formatShallowUpdate(shallow)] : [];
  // A client that deepens first asks for its new boundary alone.
  const isAsking = !shallow || isDone || request.haveOids.length > 0;
  if (isAsking) {
    const isReady = !isDone && session.isReady();
    front.push(formatAcks(ackMode(request), session.commonOids, isReady, isDone));
  }
  if (!isDone) return gitAnswer(RESULT, joinBytes(front));
  const isWide = capabilities.has("side-band-64k");
  const isBanded = isWide || capabilities.has("side-band");
  const payloadMax = isWide ? FRAME_PAYLOAD_MAX : SMALL_FRAME_PAYLOAD_MAX;
  return answerWithPack(
    location,
    session,
    joinBytes(front),
    request.wantsProgress,
    isBanded ? payloadMax : undefined,
  );
}

function ackMode({ capabilities }: UploadRequest): AckMode {
  if (capabilities.has("multi_ack_detailed")) return "detailed";
  return capabilities.has("multi_ack") ? "multi" : "single";
}

/** @param payloadMax Bytes of a side-band frame; undefined for a pack without side-bands. */
async function answerWithPack(
  location: RequestPosition,
  session: FetchSession,
  front: Uint8Array,
  wantsProgress: boolean,
  payloadMax: number | undefined,
): Promise<Response> {
  const plan = await session.plan();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield front;
    try {
      if (payloadMax === undefined) {
        yield* session.packBytes(plan);
        return;
      }
      const { size } = plan.wanted;
      const counted = `Enumerating objects: ${size}, done.\nCounting objects: 100% (${size}/${size}), done.\n`;
      if (wantsProgress) yield formatProgress(counted, payloadMax);
      const summary = yield* inFrames(session.packBytes(plan), payloadMax);
      if (wantsProgress) yield formatProgress(summary, payloadMax);
      yield FLUSH_PKT;
    } catch (error) {
      logBug(location.requestId, error);
      if (payloadMax === undefined) throw error;
      yield formatBandError(`internal error, request ${location.requestId}`, payloadMax);
    }
  }
  const onEnd = (sentBytes: number): void => logSent(location.requestId, location.usage, sentBytes);
  return gitAnswer(RESULT, streamOf(pieces(), onEnd));
}

/** A pack in side-band frames. Returns what the pack returned. */
async function* inFrames<T>(
  pack: AsyncGenerator<Uint8Array, T>,
  payloadMax: number,
): AsyncGenerator<Uint8Array, T> {
  try {
    for (;;) {
      const { value, done } = await pack.next();
      if (done) return value;
      if (value.length > 0) yield formatFrames(BAND_DATA, value, payloadMax);
    }
  } finally {
    // Where the client has gone, the pack need not be read to its end.
    await pack.return(undefined as T);
  }
}
