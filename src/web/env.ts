import type { BaseCtx } from "../context.ts";

/** Variables set on every request before its route runs. */
export interface WebEnv {
  Variables: {
    base: BaseCtx;
    requestId: string;
    assets: Pick<Fetcher, "fetch">;
    /** Answers whether the disk of a machine has space; undefined on Cloudflare. */
    diskSpace: Pick<Fetcher, "fetch"> | undefined;
    /** The bookmark of what the request has written; undefined if that is nothing. */
    findWriteBookmark: () => string | undefined;
  };
}
