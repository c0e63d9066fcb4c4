import { defineSamples, NOTHING, type Sample } from "../../support/samples/sample.ts";

const onArtifact: Sample["request"] = async (world) => ({ path: await world.artifactPath() });
const named: Sample["variants"] = async () => [{ query: { name: "result" } }];

export const samples = defineSamples({
  getArtifacts: {
    request: async (world) => {
      await world.artifactPath();
      return { path: await world.repoPath() };
    },
    variants: named,
  },
  getArtifactsOfRun: {
    request: async (world) => {
      await world.artifactPath();
      return { path: await world.workflowRunPath() };
    },
    variants: named,
  },
  getArtifact: { request: onArtifact },
  downloadArtifact: {
    request: onArtifact,
    refusal: { status: 403, reason: "the service has no key to sign addresses with" },
  },
  deleteArtifact: { request: onArtifact, announces: NOTHING },
});
