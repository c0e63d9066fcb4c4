import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { NULL_OID, type Oid } from "../../../git/oid.ts";
import {
  type Advertisement,
  type AdvertisedRef,
  parseAdvertisement,
  type ServiceName,
} from "../../../git/wire/advertisement.ts";
import type { Capabilities } from "../../../git/wire/capabilities.ts";
import { formatCommandRequest } from "../../../git/wire/command-request.ts";
import { readAcks, readFetchAnswer } from "../../../git/wire/fetch-reader.ts";
import { formatFetchArgs, formatUploadRequest } from "../../../git/wire/fetch-request.ts";
import { formatLsRefsArgs, parseLsRefsResponse } from "../../../git/wire/ls-refs.ts";
import { Negotiation, type Round } from "../../../git/wire/negotiation.ts";
import { PktStream } from "../../../git/wire/pkt-stream.ts";
import { splitHaves } from "../../../git/wire/push-client.ts";
import type { ReceiveReport } from "../../../git/wire/receive-report.ts";
import { readSideBands } from "../../../git/wire/side-band-reader.ts";
import type { Outgoing } from "../../../outgoing/outgoing.ts";
import type { StreamedResponse } from "../../../outgoing/streamed-response.ts";
import { EDGEFORGE_VERSION } from "../../version.ts";
import type { RemoteAddress } from "./remote-address.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import { type RemotePush, type RemotePushRefs, sendPush } from "./remote-push.ts";
import { type RemoteLimits, SmartHttp } from "./smart-http.ts";

/** The refs of a remote, in its order and without HEAD. */
export interface RemoteRefs {
  readonly refs: readonly AdvertisedRef[];
  /**
   * The full name of the branch that HEAD names, which may not exist; undefined if it names none.
   */
  readonly headTarget: ByteText | undefined;
}

/** The pack that a fetch requests. */
export interface PackRequest {
  /** Ids that the remote lists. */
  readonly wants: readonly Oid[];
  /** Objects that are here, with all that they reach, newest first. */
  readonly haves: Iterable<Oid> | AsyncIterable<Oid>;
  /** Called for each have that the remote has too. */
  readonly onCommon?: (oid: Oid) => void;
  readonly onProgress?: (text: ByteText) => void;
}

/**
 * Haves that are sent to a server which acknowledges only one, so that it gets them all at once.
 */
const SINGLE_HAVES_MAX = 1000;

/** Size of the answers to rounds of haves, in bytes, beside that of a pack. */
const ROUND_BYTES_MAX = 16 * 1024 * 1024;

const AGENT = encodeText(`edgeforge/${EDGEFORGE_VERSION}`);
const SHA1 = "sha1" as ByteText;
const PRESENT = "" as ByteText;

/** A git repository elsewhere, reached over smart HTTP: the client's half of fetches and pushes. */
export class RemoteRepository {
  readonly limits: RemoteLimits;
  private readonly http: SmartHttp;
  private readonly advertised = new Map<ServiceName, Advertisement>();

  constructor(outgoing: Outgoing, address: RemoteAddress, limits: RemoteLimits) {
    this.limits = limits;
    this.http = new SmartHttp(outgoing, address, limits);
  }

  /** Requests sent so far. */
  get requestCount(): number {
    return this.http.requestCount;
  }

  /** A text that the remote may have a part in, as it may be shown and stored. */
  shown(text: string): string {
    return this.http.shown(text);
  }

  /**
   * Lists the refs. Cost: two requests in version 2 of the protocol, one in earlier ones.
   *
   * @param prefixes Of the refs' full names; a server may ignore them. Without any, all refs.
   * @throws RemoteFailure
   */
  async listRefs(prefixes: readonly string[] = []): Promise<RemoteRefs> {
    const former = this.advertised.get("git-upload-pack");
    // The advertisement of earlier versions is the list itself.
    const { version, capabilities, refs } =
      former?.version === 2 ? former : await this.advertise("git-upload-pack");
    if (version !== 2) return toRemoteRefs(refs, undefined);
    const words = capabilities.get("ls-refs")?.[0] ?? "";
    const args = formatLsRefsArgs({
      prefixes: prefixes.map(encodeText),
      wantsSymrefs: true,
      wantsPeeled: true,
      wantsUnborn: words.split(" ").includes("unborn"),
    });
    const response = await this.command("ls-refs", capabilities, args, this.limits.refsBytesMax);
    const bytes = await this.http.readAll(response);
    return this.read(() => {
      const read = parseLsRefsResponse(bytes);
      if (!read) throw new GitError("protocol", "the list of refs ends too early");
      return toRemoteRefs(read.value.refs, read.value.unbornTarget);
    });
  }

  /**
   * Streams a pack of what `wants` reach and `haves` do not. It is thin where there are haves:
   * deltas may have bases that only these reach.
   *
   * SECURITY: the bytes are as the remote sent them.
   *
   * @throws RemoteFailure
   */
  async *fetchPack(request: PackRequest): AsyncGenerator<Uint8Array, void> {
    const advertisement = await this.known("git-upload-pack");
    const { version } = advertisement;
    const negotiation = new Negotiation(request.haves, request.onCommon);
    const isSingle = version !== 2 && !advertisement.capabilities.has("multi_ack_detailed");
    for (;;) {
      const round = isSingle ? await negotiation.all(SINGLE_HAVES_MAX) : await negotiation.next();
      const { answer, pack, end } =
        version === 2
          ? await this.exchange2(advertisement, request, round)
          : await this.exchange0(advertisement, request, round);
      try {
        if (pack) {
          yield* this.bounded(pack);
          return;
        }
      } finally {
        end();
      }
      if (round.isDone) throw new RemoteFailure("protocol", "the remote sends no pack");
      negotiation.take(answer);
    }
  }

  /** Lists the refs that can be pushed to. Cost: one request. @throws RemoteFailure */
  async listPushRefs(): Promise<RemotePushRefs> {
    const advertisement = await this.advertise("git-receive-pack");
    const { version, capabilities } = advertisement;
    if (version === 2) throw new RemoteFailure("protocol", "the remote takes no pushes");
    return { ...splitHaves(advertisement), capabilities };
  }

  /**
   * Pushes to the remote, whose refs must have been listed.
   *
   * @returns A result for each command, in their order.
   * @throws RemoteFailure also if the remote can't unpack the pack.
   */
  async push(push: RemotePush): Promise<ReceiveReport> {
    const { capabilities } = await this.known("git-receive-pack");
    return sendPush(this.http, { capabilities }, push, AGENT);
  }

  /** One round of version 2. */
  private async exchange2(
    { capabilities }: Advertisement,
    { wants, onProgress }: PackRequest,
    round: Round,
  ): Promise<Exchanged> {
    const args = formatFetchArgs({
      wantOids: wants,
      wantRefs: [],
      haveOids: round.haveOids,
      shallowOids: [],
      deepen: undefined,
      filter: undefined,
      isDone: round.isDone,
      isThin: true,
      takesOfsDelta: true,
      includesTags: false,
      wantsProgress: onProgress !== undefined,
      waitsForDone: false,
      isSidebandAll: false,
    });
    const response = await this.command("fetch", capabilities, args, this.answerBytesMax);
    const packets = new PktStream(response.body);
    return this.exchanged(response, async () => {
      const answer = await readFetchAnswer(packets);
      return { answer, pack: answer.hasPack ? readSideBands(packets, onProgress) : undefined };
    });
  }

  /** One round of versions 0 and 1. */
  private async exchange0(
    { version, capabilities }: Advertisement,
    { wants, onProgress }: PackRequest,
    round: Round,
  ): Promise<Exchanged> {
    const chosen = chooseUploadCapabilities(capabilities, onProgress !== undefined);
    const body = formatUploadRequest({ wantOids: wants, capabilities: chosen, ...round });
    const response = await this.http.post("git-upload-pack", version, body, this.answerBytesMax);
    const packets = new PktStream(response.body);
    return this.exchanged(response, async () => {
      const answer = await readAcks(packets, {
        isDetailed: chosen.has("multi_ack_detailed"),
        isDone: round.isDone,
        endsReady: chosen.has("no-done"),
      });
      if (!answer.hasPack) return { answer, pack: undefined };
      const isFramed = chosen.has("side-band-64k") || chosen.has("side-band");
      return { answer, pack: isFramed ? readSideBands(packets, onProgress) : packets.rest() };
    });
  }

  private async exchanged(
    { end }: StreamedResponse,
    read: () => Promise<Omit<Exchanged, "end">>,
  ): Promise<Exchanged> {
    try {
      return { ...(await read()), end };
    } catch (error) {
      end();
      throw this.http.toFailure(error);
    }
  }

  /** A pack within the limit, with the failures of the remote. */
  private async *bounded(pack: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    const { packBytesMax } = this.limits;
    let bytes = 0;
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await pack.next();
      } catch (error) {
        throw this.http.toFailure(error);
      }
      if (next.done) return;
      bytes += next.value.length;
      if (bytes > packBytesMax) {
        throw new RemoteFailure("too_large", `the pack has more than ${packBytesMax} bytes`);
      }
      yield next.value;
    }
  }

  /** Frames and progress are a little more than the pack. */
  private get answerBytesMax(): number {
    return this.limits.packBytesMax * 1.05 + ROUND_BYTES_MAX;
  }

  /** The last advertisement of a service. */
  private async known(service: ServiceName): Promise<Advertisement> {
    return this.advertised.get(service) ?? this.advertise(service);
  }

  private async advertise(service: ServiceName): Promise<Advertisement> {
    const bytes = await this.http.advertise(service);
    const advertisement = this.read(() => {
      const read = parseAdvertisement(bytes);
      if (!read) throw new GitError("protocol", "the advertisement ends too early");
      const format = read.value.capabilities.get("object-format")?.[0] ?? SHA1;
      if (format !== SHA1) throw new GitError("unsupported", `object format ${format}`);
      return read.value;
    });
    this.advertised.set(service, advertisement);
    return advertisement;
  }

  private async command(
    command: string,
    capabilities: Capabilities,
    args: readonly ByteText[],
    bodyBytesMax: number,
  ): Promise<StreamedResponse> {
    if (!capabilities.has(command)) {
      throw new RemoteFailure("protocol", `the remote has no command ${command}`);
    }
    const sent = new Map<string, ByteText[]>();
    if (capabilities.has("agent")) sent.set("agent", [AGENT]);
    if (capabilities.has("object-format")) sent.set("object-format", [SHA1]);
    const body = formatCommandRequest({ command, capabilities: sent, args });
    return this.http.post("git-upload-pack", 2, body, bodyBytesMax);
  }

  /** Parses what the remote sent. @throws RemoteFailure for a GitError. */
  private read<T>(parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      throw this.http.toFailure(error);
    }
  }
}

interface Exchanged {
  readonly answer: { readonly commonOids: readonly Oid[]; readonly isReady: boolean };
  /** Undefined if another round is to follow. */
  readonly pack: AsyncGenerator<Uint8Array> | undefined;
  /** Ends the request. */
  readonly end: () => void;
}

/** The capabilities to request from a server of protocol versions 0 and 1. */
function chooseUploadCapabilities(offered: Capabilities, wantsProgress: boolean): Capabilities {
  const isDetailed = offered.has("multi_ack_detailed");
  const requested = [
    isDetailed && "multi_ack_detailed",
    isDetailed && "no-done",
    offered.has("side-band-64k") ? "side-band-64k" : "side-band",
    "thin-pack",
    "ofs-delta",
    !wantsProgress && "no-progress",
  ].filter((name) => name !== false);
  const chosen = new Map<string, ByteText[]>(
    requested.filter((name) => offered.has(name)).map((name) => [name, [PRESENT]]),
  );
  if (offered.has("object-format")) chosen.set("object-format", [SHA1]);
  if (offered.has("agent")) chosen.set("agent", [AGENT]);
  return chosen;
}

function toRemoteRefs(
  all: readonly AdvertisedRef[],
  unbornTarget: ByteText | undefined,
): RemoteRefs {
  const head = all.find(({ name }) => name === "HEAD");
  const refs = all.filter(({ name, oid }) => name !== "HEAD" && oid !== NULL_OID);
  const headTarget = head?.symrefTarget ?? unbornTarget ?? guessHead(head, refs);
  return { refs, headTarget };
}

/**
 * The branch of HEAD at a server that does not announce it (git before 1.8.4.3): a branch with the
 * same commit, as in git.
 */
function guessHead(
  head: AdvertisedRef | undefined,
  refs: readonly AdvertisedRef[],
): ByteText | undefined {
  if (!head) return undefined;
  const same = refs.filter(({ name, oid }) => oid === head.oid && name.startsWith("refs/heads/"));
  const names = same.map(({ name }) => name);
  const usual = ["refs/heads/main", "refs/heads/master"] as ByteText[];
  return usual.find((name) => names.includes(name)) ?? names[0];
}
