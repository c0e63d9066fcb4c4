import { type OpenedBundle, readBundle } from "../../../git/archive/bundle-reader.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import type { FetchSource } from "../remotes/fetch-remote.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { RemoteRefs } from "../remotes/remote-repository.ts";

/** Maximum bytes of the header of a bundle: some 100 for each ref. */
const HEADER_BYTES_MAX = 16 * 1024 * 1024;

const HEAD = "HEAD" as ByteText;
const HEADS = "refs/heads/";

/**
 * A bundle of git, read like a remote.
 *
 * It has one pack, of its whole history, whatever a fetch asks for.
 */
export class BundleRepository implements FetchSource {
  /** A bundle is no service. */
  readonly requestCount = 0;
  private readonly openPieces: (() => AsyncGenerator<Uint8Array, void>) | undefined;
  private readonly defaultBranch: ByteText;

  /**
   * @param openPieces Opens the bundle from its start; called once for each reading. Undefined for
   * a repository without refs, of which git makes no bundle.
   * @param defaultBranch The full name of the branch of HEAD. The bundle itself has only HEAD's
   *   commit.
   */
  constructor(
    openPieces: (() => AsyncGenerator<Uint8Array, void>) | undefined,
    defaultBranch: ByteText,
  ) {
    this.openPieces = openPieces;
    this.defaultBranch = defaultBranch;
  }

  /** @throws RemoteFailure `protocol` or `too_large` for what is no bundle. */
  async listRefs(): Promise<RemoteRefs> {
    const isBranch = this.defaultBranch.startsWith(HEADS);
    const headTarget = isBranch ? this.defaultBranch : undefined;
    const opened = await this.open();
    if (!opened) return { refs: [], headTarget };
    await opened.pack.return();
    return { refs: opened.refs.filter(({ name }) => name !== HEAD), headTarget };
  }

  /**
   * Streams the pack of the bundle. SECURITY: the bytes are as they were sent. @throws
   * RemoteFailure as `listRefs`
   */
  async *fetchPack(): AsyncGenerator<Uint8Array, void> {
    const opened = await this.open();
    if (opened) yield* opened.pack;
  }

  /** The bundle has no credentials that it could repeat. */
  shown(text: string): string {
    return text;
  }

  private async open(): Promise<OpenedBundle | undefined> {
    if (!this.openPieces) return undefined;
    try {
      return await readBundle(this.openPieces(), HEADER_BYTES_MAX);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw new RemoteFailure(error.code === "limit" ? "too_large" : "protocol", error.message);
    }
  }
}
