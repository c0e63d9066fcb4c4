/** When a repository is searched for objects that nothing reaches. */
export interface CollectionPolicy {
  /** For how long what a ref led to stays, in milliseconds. */
  readonly graceMs: number;
  /** Between two searches at least, in milliseconds; null for none by itself. */
  readonly intervalMs: number | null;
}
