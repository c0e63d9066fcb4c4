/** Headers of the protocol between R2's binding and what serves it. */
export const REQUEST_HEADER = "cf-r2-request";
export const METADATA_SIZE_HEADER = "cf-r2-metadata-size";

/** The methods by which the entrance calls the object, besides the simulator's GET and PUT. */
export const LOCATE = "POST";
export const RELEASE = "DELETE";

/** Names the lease to be released. */
export const LEASE_HEADER = "local-bucket-lease";

/** A range of a key, which may go beyond its end. */
type Span = { offset: number; length?: number };

/** A request for where the bytes of a key are: all of them without `span`. */
export type LocateRequest = { key: string; span: Span | undefined };

/** A range of the file `id`, `end` being the last byte, as in HTTP. */
export type Piece = { id: string; start: number; end: number };

/** Where the bytes are. */
export type Located = {
  /** What the binding expects before the bytes, as JSON. */
  metadata: string;
  /** In order. */
  pieces: Piece[];
  lengthBytes: number;
  /** Keeps the files of several pieces until it is released; one piece has none. */
  lease: string | undefined;
};
