import type { FileReader } from "./file-reader.ts";
import { readScalar, type SourceNode, valueOf } from "./source-node.ts";
import { DISPATCH_INPUT_TYPES, type DispatchInput, type Workflow } from "./workflow.ts";

/** Maximum characters of all values of a run that is started by hand. */
const VALUES_MAX = 65_535;
/** As JSON has numbers. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Reads the inputs of `workflow_dispatch`. */
export function readDispatchInputs(
  reader: FileReader,
  on: SourceNode | undefined,
): readonly DispatchInput[] {
  const inputs: DispatchInput[] = [];
  const node = valueOf(valueOf(on, "workflow_dispatch"), "inputs");
  for (const [name, { value }] of reader.readEntries(node, "'inputs'")) {
    // Only a map says more than the name.
    const word = readScalar(valueOf(value, "type"));
    const known = DISPATCH_INPUT_TYPES.find((type) => type === word) ?? "string";
    const options = reader.readTexts(valueOf(value, "options"), `'options' of '${name}'`);
    const type = known === "choice" && options.length === 0 ? "string" : known;
    const preset = readScalar(valueOf(value, "default"));
    inputs.push({
      name,
      type,
      description: readScalar(valueOf(value, "description")) ?? "",
      isRequired: readScalar(valueOf(value, "required"))?.toLowerCase() === "true",
      ...(preset === undefined ? {} : { default: preset }),
      ...(type === "choice" ? { options: options.map(({ text }) => text) } : {}),
    });
  }
  return inputs;
}

/**
 * Completes the values that somebody gave for a run, and checks them. All values become texts, as
 * the event of a run has them.
 */
export function readInputs(
  { dispatchInputs }: Workflow,
  given: Readonly<Record<string, unknown>>,
): { readonly inputs: Readonly<Record<string, string>> } | { readonly fault: string } {
  for (const name of Object.keys(given)) {
    if (!dispatchInputs.some((input) => input.name === name)) {
      return { fault: `The workflow has no input '${name}'` };
    }
  }
  const inputs = new Map<string, string>();
  for (const input of dispatchInputs) {
    const { name } = input;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const word = toText(value ?? "");
    if (word === undefined) {
      return { fault: `The input '${name}' must be a text, number or truth value` };
    }
    if (word === "" && input.isRequired && input.default === undefined) {
      return { fault: `The input '${name}' is required` };
    }
    const fault = word === "" ? undefined : checkInput(input, word);
    if (fault !== undefined) return { fault };
    const text = word === "" ? (input.default ?? "") : word;
    inputs.set(name, text === "" && input.type === "boolean" ? "false" : text);
  }
  const length = [...inputs.values()].reduce((sum, text) => sum + text.length, 0);
  if (length > VALUES_MAX) return { fault: `The inputs have more than ${VALUES_MAX} characters` };
  return { inputs: Object.fromEntries(inputs) };
}

/** The `inputs` that expressions name: truth values as such, as runners have them. */
export function toInputsContext(
  { dispatchInputs }: Workflow,
  inputs: Readonly<Record<string, string>>,
): Readonly<Record<string, string | boolean>> {
  const values = Object.entries(inputs).map(([name, text]) => {
    const type = dispatchInputs.find((input) => input.name === name)?.type;
    return [name, type === "boolean" ? text === "true" : text] as const;
  });
  return Object.fromEntries(values);
}

function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function checkInput({ name, type, options }: DispatchInput, text: string): string | undefined {
  if (type === "boolean" && text !== "true" && text !== "false") {
    return `The input '${name}' must be 'true' or 'false'`;
  }
  if (type === "number" && !NUMBER.test(text)) return `The input '${name}' must be a number`;
  if (type === "choice" && !options?.includes(text)) {
    return `The input '${name}' must be one of: ${options?.join(", ")}`;
  }
  return undefined;
}
