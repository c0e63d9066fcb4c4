import type { TestProject } from "vitest/node";

import { publicProject, sampleProject, visibleProject } from "./gitlab-sample.ts";
import { startForge } from "./gitlab.ts";
import { redirectGit } from "./redirect-git.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The origin of a stand-in for GitLab, with the sample projects. */
    gitlab: string;
  }
}

/**
 * Starts a stand-in for GitLab, outside the Worker, after start-remotes.ts: git is led to the
 * remote that has the token's name.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const server = await startForge(
    (origin) => [sampleProject(origin), publicProject(origin), visibleProject(origin)],
    redirectGit(
      project.getProvidedContext().remotes[0],
      ({ headers: { authorization = "" } }) =>
        Buffer.from(authorization.replace(/^Basic /, ""), "base64")
          .toString()
          .split(":")[1],
    ),
  );
  project.provide("gitlab", server.origin);
  return () => server.close();
}
