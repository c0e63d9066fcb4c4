import { mkdtempSync, rmSync } from "node:fs";
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
  return async () => {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  };
}
