/** What a forge asked of its own storage while it was measured; git has nothing to count there. */
export type Usage = {
  r2Calls: number;
  objectCalls: number;
  /** The most that a request held in its buffers, in bytes; undefined if the service does not say. */
  bufferedBytes: number | undefined;
};

/** One of the two programs that are compared. Functions rather than methods: they may be handed on. */
export type Forge = {
  name: string;
  /** Makes an empty repository that everybody may read, with this default branch; returns its address. */
  create: (name: string, branch: string) => Promise<string>;
  /** What git needs on its command line to write. */
  writeOptions: string[];
  /** Puts a repository into the best order for reading that its operator can bring about. */
  compact: (name: string) => Promise<void>;
  /** Waits until nothing is under way. */
  settle: () => Promise<void>;
  /** Processor time of the server so far, in seconds. */
  cpuSeconds: () => number;
  /** Process whose memory is watched; undefined for one that starts a process a request. */
  pid: () => number | undefined;
  /** What requests asked of the storage since the last call. */
  takeUsage: () => Usage | undefined;
  close: () => Promise<void>;
};
