/** The storage calls of a forge during a measurement; git has none to count. */
export type Usage = {
  r2Calls: number;
  objectCalls: number;
  /** Peak size of a request's buffers, in bytes; undefined if the service does not report it. */
  bufferedBytes: number | undefined;
};

/**
 * One of the two compared programs. Functions rather than methods, so that callers can pass them
 * on.
 */
export type Forge = {
  name: string;
  /** Creates an empty public repository with this default branch; returns its URL. */
  create: (name: string, branch: string) => Promise<string>;
  /** Command-line options that git needs to push. */
  writeOptions: string[];
  /** Optimizes a repository for reading, as far as an operator can. */
  compact: (name: string) => Promise<void>;
  /** Waits until the server is idle. */
  settle: () => Promise<void>;
  /** CPU time of the server so far, in seconds. */
  cpuSeconds: () => number;
  /**
   * The process whose memory is measured; undefined for a server that starts a process per request.
   */
  pid: () => number | undefined;
  /** The storage calls of requests since the last call. */
  takeUsage: () => Usage | undefined;
  close: () => Promise<void>;
};
