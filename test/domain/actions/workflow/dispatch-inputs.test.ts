import { describe, expect, it } from "vitest";

import {
  readInputs,
  toInputsContext,
} from "../../../../src/domain/actions/workflow/dispatch-inputs.ts";
import { readWorkflow } from "../../../../src/domain/actions/workflow/read-workflow.ts";
import type { Workflow } from "../../../../src/domain/actions/workflow/workflow.ts";

async function withInputs(inputs: string): Promise<Workflow> {
  const read = await readWorkflow(
    "a.yml",
    `on: { workflow_dispatch: { inputs: { ${inputs} } } }\njobs: { a: { runs-on: x } }\n`,
  );
  if (read.kind === "faulty") throw new Error(JSON.stringify(read.faults));
  return read.workflow;
}

describe("the inputs of a run that is started by hand", () => {
  it.each([
    ["a: { default: x }", {}, { a: "x" }],
    ["a: { default: x }", { a: "y" }, { a: "y" }],
    ["a: { default: x }", { a: "" }, { a: "x" }],
    ["a: { required: true, default: x }", {}, { a: "x" }],
    ["a: ", {}, { a: "" }],
    ["a: { type: boolean }", {}, { a: "false" }],
    ["a: { type: boolean, default: true }", {}, { a: "true" }],
    ["a: { type: boolean, default: true }", { a: false }, { a: "false" }],
    ["a: { type: boolean }", { a: "true" }, { a: "true" }],
    ["a: { type: number, default: 3 }", {}, { a: "3" }],
    ["a: { type: number }", { a: 2.5 }, { a: "2.5" }],
    ["a: { type: number }", { a: "-1e3" }, { a: "-1e3" }],
    ["a: { type: choice, options: [x, y] }", { a: "y" }, { a: "y" }],
    ["a: { type: choice, options: [x, y], default: z }", {}, { a: "z" }],
    ["a: { type: choice, options: [1, 2] }", { a: 2 }, { a: "2" }],
    ["constructor: ", {}, { constructor: "" }],
  ])("`%s` with %j are %j", async (inputs, given, expected) => {
    expect(readInputs(await withInputs(inputs), given)).toEqual({ inputs: expected });
  });

  it.each([
    ["a: ", { b: "x" }, "The workflow has no input 'b'"],
    ["a: { required: true }", {}, "The input 'a' is required"],
    ["a: { required: true }", { a: "" }, "The input 'a' is required"],
    ["a: { required: true }", { a: null }, "The input 'a' is required"],
    ["a: ", { a: ["x"] }, "The input 'a' must be a text, number or truth value"],
    ["a: { type: boolean }", { a: "yes" }, "The input 'a' must be 'true' or 'false'"],
    ["a: { type: number }", { a: "3 apples" }, "The input 'a' must be a number"],
    ["a: { type: number }", { a: "0x10" }, "The input 'a' must be a number"],
    ["a: { type: choice, options: [x, y] }", { a: "z" }, "The input 'a' must be one of: x, y"],
    ["a: ", { a: "x".repeat(65_536) }, "The inputs have more than 65535 characters"],
  ])("`%s` with %j are refused", async (inputs, given, fault) => {
    expect(readInputs(await withInputs(inputs), given)).toEqual({ fault });
  });

  it("are truth values in expressions where they are declared as such", async () => {
    const workflow = await withInputs("a: { type: boolean }, b: { type: number }, c: ");
    expect(toInputsContext(workflow, { a: "false", b: "3", c: "true" })).toEqual({
      a: false,
      b: "3",
      c: "true",
    });
  });
});
