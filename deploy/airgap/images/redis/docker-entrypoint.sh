#!/bin/sh
# The official image's entrypoint in the parts that are used. Its redis is compiled with protected mode off.
set -e
if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then
	set -- redis-server "$@"
fi
if [ "$1" = redis-server ]; then
	case " $* " in
	*" --protected-mode "*) ;;
	*) set -- "$@" --protected-mode no ;;
	esac
	if [ "$(id -u)" = 0 ]; then
		find . \! -user redis -exec chown redis '{}' + 2>/dev/null || :
		exec gosu redis "$@"
	fi
fi
exec "$@"
