/** The Worker's entrypoint for a start (src/worker.ts). */
export type Setup = {
  /**
   * Does nothing if an administrator exists. The Worker that verifies passwords also hashes them.
   */
  createFirstAdministrator(account: {
    name: string;
    password: string;
    email: string;
  }): Promise<{ created: boolean }>;
  /** Ends the leases of jobs of a process that was killed. */
  releaseLeases(): Promise<void>;
};
