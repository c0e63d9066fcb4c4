import type { StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";

import { type HostService, openHostService } from "./host-service.ts";

/**
 * Free bytes below which a disk counts as full: a push needs space for its pack and for the logs
 * of two databases.
 */
const FREE_BYTES_MIN = 16 * 1024 ** 2;

/**
 * Answers the Worker's health check whether the disk of the state has space: 204, or 507.
 *
 * @param path The socket at which it listens.
 */
export const reportDiskSpace = (path: string, data: string): Promise<HostService> =>
  openHostService(path, (_request, response) => {
    statfs(data).then(
      (space) => response.writeHead(isFull(space) ? 507 : 204).end(),
      (error: unknown) => {
        console.error("the space of the data directory can't be read:", error);
        response.writeHead(500).end();
      },
    );
  });

/** Whether a disk has no space or no names for new files; a file system may not count these. */
export function isFull({
  bavail,
  bsize,
  files,
  ffree,
}: Pick<StatsFs, "bavail" | "bsize" | "files" | "ffree">): boolean {
  return bavail * bsize < FREE_BYTES_MIN || (files > 0 && ffree === 0);
}
