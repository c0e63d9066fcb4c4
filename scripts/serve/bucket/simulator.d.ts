/**
 * The parts of Miniflare's simulator of R2 that the local bucket uses. Plugin.ts adds its module.
 */

/** Files of the simulator, which never change. */
export type Blobs = {
  put: (stream: ReadableStream) => Promise<string>;
  delete: (id: string) => Promise<void>;
};

/** The object of a bucket: its table of keys, and what writes and reads their files. */
export class R2BucketObject {
  constructor(state: DurableObjectState, env: object);
  fetch(request: Request): Promise<Response>;
  get blob(): Blobs;
}
