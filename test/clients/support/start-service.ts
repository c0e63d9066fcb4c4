import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { TestProject } from "vitest/node";

import { inProject } from "../../../scripts/project.ts";
import { startService } from "../../scripts/support/service.ts";

/** The administrator of the service under test. */
export const ADMIN = { name: "root", password: "correct horse battery" };

declare module "vitest" {
  interface ProvidedContext {
    serviceUrl: string;
    /** Answers with what the service has printed so far. */
    serviceLogUrl: string;
  }
}

/** Starts the service once for all client tests, with fresh state. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const data = mkdtempSync(join(tmpdir(), "edgeforge-clients-"));
  const checkout = { path: inProject("."), remove: () => {} };
  const service = await startService(checkout, {
    EDGEFORGE_DATA: data,
    EDGEFORGE_ADMIN_USER: ADMIN.name,
    EDGEFORGE_ADMIN_PASSWORD: ADMIN.password,
  });
  project.provide("serviceUrl", service.url);
  const log = createServer((_request, response) => void response.end(service.output()));
  await new Promise<void>((resolve) => void log.listen(0, "127.0.0.1", resolve));
  const { port } = log.address() as AddressInfo;
  project.provide("serviceLogUrl", `http://127.0.0.1:${port}/`);
  return async () => {
    log.close();
    log.closeAllConnections();
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  };
}
