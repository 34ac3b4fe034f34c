/** Checks reports written by Rust against the types of `src/report.ts`. */

import { join } from 'node:path';
import ts from 'typescript';

const ui = join(import.meta.dirname, '..');

/**
 * The compiler errors of these JSON texts as a `Report`: missing, unknown, and wrong fields.
 * The texts are checked as literals because the types of an imported JSON file are wider than its values.
 */
export function errorsOf(reports: Record<string, string>): string[] {
  const places = new Map<string, string>();
  for (const [name, json] of Object.entries(reports)) {
    const place = join(ui, 'tests', `contract-of-${places.size}.ts`);
    places.set(place, name);
    const literal = JSON.stringify(JSON.parse(json), null, 1);
    sources.set(
      place,
      `import type { Report } from '../src/report';
export default ${literal} satisfies Report;
`,
    );
  }
  const program = ts.createProgram([...places.keys()], options(), host());
  return [...places].flatMap(([place, name]) => {
    const file = program.getSourceFile(place);
    if (!file) return [`${name}: not read`];
    const errors = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return errors.slice(0, 5).map((error) => {
      const line = ts.getLineAndCharacterOfPosition(file, error.start ?? 0).line;
      return `${name}, line ${line}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`;
    });
  });
}

const sources = new Map<string, string>();

function options(): ts.CompilerOptions {
  const path = join(ui, 'tsconfig.json');
  const { config } = ts.readConfigFile(path, (name) => ts.sys.readFile(name)) as { config: unknown };
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, ui).options, types: [] };
}

function host(): ts.CompilerHost {
  const inner = ts.createCompilerHost(options());
  return {
    ...inner,
    fileExists: (name) => sources.has(name) || inner.fileExists(name),
    readFile: (name) => sources.get(name) ?? inner.readFile(name),
    getSourceFile: (name, version, ...rest) => {
      const text = sources.get(name);
      return text === undefined
        ? inner.getSourceFile(name, version, ...rest)
        : ts.createSourceFile(name, text, version, true);
    },
  };
}
