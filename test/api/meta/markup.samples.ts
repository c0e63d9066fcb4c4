import { defineSamples, NOTHING } from "../../support/samples/sample.ts";

const RENDERS = {
  announces: NOTHING,
  onlyReads: true,
  needsNoScope: true,
  sameForPublicOnly: "it renders what it is sent",
  sameForBound: "it renders what it is sent",
} as const;

export const samples = defineSamples({
  renderMarkdown: { request: async () => ({ json: { Text: "*a* @ada #1" } }), ...RENDERS },
  renderMarkup: {
    request: async (world) => {
      const { owner, repo } = await world.repoPath();
      return { json: { Text: "*a* @ada", Mode: "comment", Context: `${owner}/${repo}` } };
    },
    ...RENDERS,
  },
  renderMarkdownRaw: { request: async () => ({ body: "*a* @ada" }), ...RENDERS },
});
