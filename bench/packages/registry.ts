import type { Server } from "../support/service.ts";

/** A registry that is measured. */
export type Registry = Server & {
  name: string;
  /** The path of the registry of npm, with a slash at its end. */
  path: string;
  token?: string;
  pid: () => number;
};

/** The address that npm's clients are given. */
export const addressOf = ({ origin, path }: Registry): string => new URL(path, origin).href;
