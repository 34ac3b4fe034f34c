import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Properties through which text could become markup or code. */
const doors = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'write', 'writeln'].map((property) => ({
  property,
  message: 'Create text nodes: use h() and s() of src/dom.ts.',
}));

export default defineConfig(
  { ignores: ['dist', 'node_modules'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['eslint.config.js', 'tools/start.js'] } },
    },
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-eval': 'error',
      'no-implied-eval': 'off',
      'no-restricted-properties': ['error', ...doors],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.test.ts', 'tests/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['tools/start.js'],
    languageOptions: { globals: { process: 'readonly' } },
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    files: ['bench/**', 'tests/**', 'tools/**'],
    rules: { 'no-console': 'off' },
  },
);
